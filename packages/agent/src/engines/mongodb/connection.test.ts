import { expect, test } from "vitest";
import { parseUri } from "./connection.ts";

test("the server's own databases, which no test restores, are refused by name", () => {
  for (const name of ["admin", "config", "local"])
    expect(() => parseUri(`mongodb://root:hush@localhost/${name}`, "the configuration")).toThrow(
      new RegExp(`names ${name}, the server's own database.*authSource=${name}`),
    );
  expect(parseUri("mongodb://root:hush@localhost/?authSource=admin", "the configuration")).toMatchObject({
    database: null,
  });
  expect(parseUri("mongodb://localhost/admins", "the configuration")).toMatchObject({ database: "admins" });
});
