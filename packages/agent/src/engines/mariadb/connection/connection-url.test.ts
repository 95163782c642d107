import fc from "fast-check";
import { expect, test } from "vitest";
import { RunError } from "../../../errors/run-error.ts";
import { optionFile } from "./connection.ts";
import { parseConnectionUrl } from "./connection-url.ts";

const parse = (url: string): ReturnType<typeof parseConnectionUrl> => parseConnectionUrl(url, "the test");

test.each([
  ["mysql://", {}, null],
  ["mariadb://db.example:3307/shop", { host: "db.example", port: "3307" }, "shop"],
  ["mysql://app:s%40cr%3At@db/shop\n", { user: "app", password: "s@cr:t", host: "db" }, "shop"],
  [
    "mysql://app@localhost/od%20d?socket=%2Frun%2Fs",
    { user: "app", host: "localhost", socket: "/run/s" },
    "od d",
  ],
  ["mysql://[2001:db8::1]:3306/x", { host: "2001:db8::1", port: "3306" }, "x"],
  ["mysql://db/x?ssl_ca=%2Fca.pem", { host: "db", "ssl-ca": "/ca.pem" }, "x"],
])("%s", (url, options, database) => {
  expect(parse(url)).toEqual({ options, database });
});

test.each([
  ["postgresql://db/x", "not a mysql:// URL"],
  ["mysql://db:port/hush-hush", "not a mysql:// URL"],
  ["mysql://app:%zz@db/hush-hush", "%"],
  ["mysql://db/x?init-command=hush-hush", "not known"],
  ["mysql://root:12?hush-hush=x@db/shop", "%3F"],
  ["mysql://root:12/hush-hush@db/shop", "%2F"],
  ["mysql://db/x?socket", "no value"],
  ["mysql://app:hush-hush%0a@db", "line break"],
])("%s is refused, and the error repeats nothing that may be secret", (url, reason) => {
  let error: unknown = null;
  try {
    parse(url);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ code: "connection_reference", message: expect.stringContaining(reason) });
  expect(String(error)).not.toContain("hush-hush");
});

test("arbitrary text gives options of one line each, or our error", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((text) => `mysql://${text}`),
        fc.webUrl().map((url) => url.replace(/^https?/, "mysql")),
      ),
      (url) => {
        try {
          const { options } = parse(url);
          expect(optionFile(options).split("\n")).toHaveLength(Object.keys(options).length + 4);
        } catch (error) {
          expect(error).toBeInstanceOf(RunError);
        }
      },
    ),
    { numRuns: 2_000 },
  );
});
