import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type S3Server, startS3Server } from "../../../../tests/e2e/harness/s3-server.ts";
import { parseSourceConfig, type SourceConfigOf } from "../../src/config/source-config.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

/** Dumps that others put into a bucket of a real S3 server. */

let place: TestPlace;
let s3: S3Server;

beforeAll(async () => {
  place = await makeTestPlace();
  s3 = await startS3Server({ tls: true });
  writeFileSync(join(place.dir, "ca.pem"), s3.certificate ?? "");
  process.env["TEST_DUMPS_KEY_ID"] = s3.settings.accessKeyId;
  process.env["TEST_DUMPS_KEY"] = s3.settings.secretAccessKey;
});

afterAll(async () => {
  await s3?.remove();
  await place?.remove();
});

function source(more: Record<string, unknown> = {}): SourceConfigOf<"dumps"> {
  const written = {
    engine: "dumps",
    bucket: `s3://${s3.settings.bucket}/nightly/db & co`,
    endpoint: s3.settings.endpoint,
    region: s3.settings.region,
    ca_file: "ca.pem",
    access_key_id: "env:TEST_DUMPS_KEY_ID",
    secret_access_key: "env:TEST_DUMPS_KEY",
    pattern: "orders-*.db.gz",
    min_age_s: 0,
    checks: [{ id: "count", query: "select count(*) as n from orders", expect: "n >= 10" }],
    ...more,
  };
  return parseSourceConfig("legacy", written, place.dir) as SourceConfigOf<"dumps">;
}

function dump(rows: number): Buffer {
  const path = join(place.dir, "made.db");
  rmSync(path, { force: true });
  const database = new DatabaseSync(path);
  database.exec(`create table orders (id integer primary key, note text);
    with recursive n (i) as (select 1 union all select i + 1 from n where i < ${rows}) insert into orders select i, hex(randomblob(500)) from n`);
  database.close();
  return gzipSync(readFileSync(path));
}

const put = (name: string, body: Buffer): Promise<unknown> =>
  s3.send({ method: "PUT", key: `nightly/db & co/${name}`, body });

const back = (of = source()): Promise<MadeBackup> => backUp(place, of);

function testIt(made: MadeBackup, of = source()): Promise<RestoreTestResult> {
  return testBackup(place, of, made);
}

const newest = (made: MadeBackup): unknown => (made.sourceMetadata["original"] as { name: string }).name;

test("the newest matching dump is pinned and proven, and no copy stays on the host", async () => {
  await put("orders-1.db.gz", dump(10));
  await put("other.db.gz", dump(1));
  await put("deeper/orders-9.db.gz", dump(1));
  expect(newest(await back())).toBe("orders-1.db.gz");
  await s3.send({ method: "GET", query: { "list-type": "2" } });
  // S3's times are whole seconds, and of two of one second the later name counts as the newer.
  await put("orders-2.db.gz", dump(2_000));
  const made = await back();
  expect(newest(made)).toBe("orders-2.db.gz");
  const tested = await testIt(made);
  expect(tested.reason).toBeUndefined();
  expect(tested).toMatchObject({ result: "passed" });
  expect(tested.checks.find(({ id }) => id === "count")?.observed).toEqual({ n: 2000 });
  expect(readdirSync(place.scratch)).toEqual([]);
});

test("an object that was changed fails; a missing one could not be tested", async () => {
  await put("orders-3.db.gz", dump(20));
  const made = await back();
  await put("orders-3.db.gz", dump(21));
  expect(await testIt(made)).toMatchObject({ result: "failed", checks: [] });
  await s3.send({ method: "DELETE", key: "nightly/db & co/orders-3.db.gz" });
  await expect(testIt(made)).rejects.toMatchObject({ code: "ciphertext_unavailable" });
  expect(readdirSync(place.scratch)).toEqual([]);
});

test("no matching object, a missing bucket, a wrong key and no key each fail with their reason", async () => {
  await expect(back(source({ pattern: "*.dump" }))).rejects.toMatchObject({ code: "source_missing" });
  await expect(back(source({ bucket: "s3://not-there" }))).rejects.toMatchObject({ code: "source_missing" });
  process.env["TEST_WRONG_KEY"] = "hush-hush";
  const wrong: unknown = await back(source({ secret_access_key: "env:TEST_WRONG_KEY" })).catch(
    (error: unknown) => error,
  );
  expect(wrong).toMatchObject({ code: "source_missing", message: expect.stringContaining("403") });
  expect(String(wrong)).not.toContain("hush-hush");
  await expect(back(source({ secret_access_key: "env:TEST_NO_SUCH_KEY" }))).rejects.toMatchObject({
    code: "connection_reference",
  });
});

test.each([
  [{ path: "/dumps" }, "not both"],
  [{ bucket: "my-dumps" }, "must be s3://NAME"],
  [{ bucket: "s3://UPPER" }, "must be s3://NAME"],
  [{ endpoint: "http://plain" }, "must be https://HOST"],
  [{ bucket: undefined }, "give bucket: s3://NAME/PREFIX"],
])("a configuration with %o is refused", (more, message) => {
  expect(() => source(more)).toThrow(message);
});
