import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import type { SourceConfigOf } from "../../../src/config/source-config.ts";
import { mariadb } from "../../../src/engines/mariadb/index.ts";
import { back, never, nothingLeft, place, server, useShopOnMariadb } from "./shop-on-mariadb.ts";

useShopOnMariadb();

const failed = async (more: Partial<SourceConfigOf<"mariadb" | "mysql">>, url?: string): Promise<unknown> => {
  const before = readdirSync(place.blobs);
  if (url !== undefined) process.env["TEST_OTHER_MARIADB_URL"] = url;
  const error: unknown = await back({
    ...(url === undefined ? {} : { connection: { kind: "env", name: "TEST_OTHER_MARIADB_URL" } }),
    ...more,
  }).catch((thrown: unknown) => thrown);
  expect(readdirSync(place.blobs)).toEqual(before);
  expect(String(error)).not.toContain("hush-hush");
  nothingLeft();
  return error;
};

test("a dump without a server, a password, a right or a database fails and leaves nothing", async () => {
  expect(await failed({}, "mysql://root:hush-hush@127.0.0.1:1/shop")).toMatchObject({
    code: "connection_failed",
  });
  expect(await failed({}, server.url("special", "hush-hush"))).toMatchObject({
    code: "connection_failed",
    message: expect.stringContaining("Access denied"),
  });
  expect(await failed({}, server.url("limited", "hush-hush"))).toMatchObject({ code: "dump_failed" });
  expect(await failed({ databases: ["gone"] })).toMatchObject({ code: "source_missing" });
  expect(await failed({}, server.url("root", "").replace("/shop", "/"))).toMatchObject({
    code: "connection_reference",
  });
});

test("a dump that is interrupted leaves nothing", async () => {
  const controller = new AbortController();
  const before = readdirSync(place.blobs);
  const running = back({}, controller.signal);
  controller.abort();
  await expect(running).rejects.toMatchObject({ code: "interrupted" });
  expect(readdirSync(place.blobs)).toEqual(before);
  nothingLeft();
});

test("a dump that ends at its first bytes leaves no connection to the source", async () => {
  const dump = await mariadb.dump(server.source, { scratchDir: place.scratch, signal: never });
  for await (const _ of dump.content) break;
  await dump.close();
  nothingLeft();
});
