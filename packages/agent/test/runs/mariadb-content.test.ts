import { createHash, createHmac } from "node:crypto";
import { readdirSync } from "node:fs";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import { mariadb } from "../../src/engines/mariadb/index.ts";
import { openContentKey } from "../../src/runs/content-key.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, reseal, type Resealed, type TestPlace } from "./scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "./source-mariadb.ts";

/** What came back is what went in: the content of MariaDB's tables. */

const never = new AbortController().signal;
let place: TestPlace;
let server: SourceMariadb;
let backup: MadeBackup;

/** Everything that might make an honest copy another one. */
const SOURCE = String.raw`
  create database shop default character set utf8mb4; create database \`od-d \`\`name\`; use shop; set sql_mode = '';
  create table orders (id int auto_increment primary key, status varchar(10), note text, key by_status (status));
  insert into orders (status, note) select seq % 3, concat('secret note ', seq) from seq_1_to_20000;
  delete from orders where id % 7 = 0; insert into orders (id, note) values (7, 'late'), (14, 'late');
  create table twice (a int); insert into twice values (1), (1), (2);
  create table no_rows (a int);
  create table kinds (b bit(9), j json, p geometry, f float, d double, fixed float(10, 6), n decimal(30, 10), z date, zt datetime(6), y year, t time(3),
    ts timestamp(6) null, bn binary(3), vb varbinary(9), bl longblob, e enum('a', 'b') , s set('a', 'b'), c char(5), i6 inet6, u uuid, big bigint unsigned zerofill);
  insert into kinds values (b'101', '{"a": "\\n"}', point(1, 2), 0.1, 1e300, 1.234567, 1.1, '0000-00-00', '2026-00-00 00:00:00.000001', 0, '-838:59:59.999',
    '2026-10-25 00:30:00.5', x'00', x'0a2c28', concat('),\n(1', char(0), '''"\\\r\t', repeat('x', 3000000)), 'nonsense', 'a,b', 'a  ', '::1', uuid(), 18446744073709551615),
    (null, null, null, -0e0, 5e-324, null, -0, null, null, 2026, '00:00:00', null, '', '', '', 'a', '', '', null, null, 0);
  insert into kinds (f, d) values (1e-38, 1.7976931348623157e308), (3.4e38, 0.1 + 0.2e0), (-1.5, -1/3);
  create table latin (t text character set latin1, s text character set sjis, u text character set ucs2, b text character set binary) character set latin1;
  insert into latin values (_utf8mb4 'é''\\\n', _utf8mb4 '表ソ', _utf8mb4 'ü€', x'ff00');
  create table steady (id int primary key, a int as (id * 2) stored, b varchar(30) as (concat('x', upper('y'), id)) virtual, hidden int invisible default 3);
  insert into steady (id) values (1), (2);
  create table computed (id int primary key, at datetime as (now(6)) virtual); insert into computed (id) values (1);
  create table history (id int primary key, v text) with system versioning;
  insert into history values (1, 'a'), (2, 'b'); update history set v = 'c' where id = 1; delete from history where id = 2;
  create table \`x) VALUES (\` (\`y) VALUES (1\` int, \`z\`\`\` int as (1) virtual); insert into \`x) VALUES (\` (\`y) VALUES (1\`) values (5), (6);
  create table parts (y int, v text) partition by range (y) (partition p0 values less than (2000), partition p1 values less than maxvalue);
  insert into parts values (2001, 'new'), (1999, 'old');
  create table my (id int, key (id)) engine = MyISAM; insert into my values (3), (1), (2); delete from my where id = 1; insert into my values (0);
  create table aria (id int, t text) engine = Aria; insert into aria values (1, 'a');
  create table in_memory (id int primary key) engine = MEMORY; insert into in_memory values (3), (1), (2);
  create table spoken (id int primary key, begun timestamp(6) generated always as row start, ended timestamp(6) generated always as row end,
    period for system_time (begun, ended)) with system versioning;
  insert into spoken (id) values (1); delete from spoken;
  create sequence numbers; do nextval(numbers);
  create trigger doubled before insert on twice for each row set new.a = new.a * 2;
  create trigger cut after insert on orders for each row delete from my where id = new.id;
  create view seen as select * from orders; create view seen_again as select count(*) n from seen;
  create procedure loads() begin insert into twice values (1); end;
  create event nightly on schedule every 1 day do delete from twice;
  use \`od-d \`\`name\`; create table \`we;ird\`\`t\` (\`a b\` int); insert into \`we;ird\`\`t\` values (7);
`.replaceAll("\\`", "`");

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMariadb(place.dir);
  server.sql(
    `delimiter //\n${SOURCE.replaceAll(/;(?=\s*$|\s*(?:create|insert|update|delete|do|use|set) )/gim, "//").replace("values (1)// end", "values (1); end")}`,
  );
  backup = await back();
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

const back = (): Promise<MadeBackup> =>
  backUp(place, { ...server.source, databases: ["shop", "od-d `name"] });

async function testIt(
  instead: Resealed = backup,
  more: Readonly<Record<string, unknown>> = {},
): Promise<RestoreTestResult> {
  const tested = await testBackup(place, server.source, backup, { instead, metadata: more });
  expect(readdirSync(place.scratch)).toEqual([]);
  return tested;
}

async function plaintext(): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of unseal(readCiphertext({ path: backup.path }), [place.identity]))
    pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

/** The same backup with other texts in its dump. */
async function testWith(
  ...changes: readonly (readonly [was: string, is: string])[]
): Promise<RestoreTestResult> {
  let bytes = await plaintext();
  for (const [was, is] of changes) {
    const at = bytes.indexOf(was);
    expect(at, was).toBeGreaterThan(0);
    bytes = Buffer.concat([
      bytes.subarray(0, at),
      Buffer.from(is),
      bytes.subarray(at + Buffer.byteLength(was)),
    ]);
  }
  return testIt(await reseal(place, bytes));
}

const checkOf = (tested: RestoreTestResult, id: string) => tested.checks.find((check) => check.id === id);
const failedOf = ({ checks }: RestoreTestResult) =>
  checks.filter(({ result }) => result === "failed").map(({ id }) => id);

test("an unchanged copy passes, whatever its tables are and hold", async () => {
  expect(backup.sourceMetadata["content"]).toMatchObject({
    tables: 13,
    rest: null,
    not_compared: {
      count: 2,
      named: expect.arrayContaining([
        { name: "shop.computed", why: "generated_column" },
        { name: "shop.spoken (history)", why: "generated_column" },
      ]),
    },
  });
  const tested = await testIt();
  expect(failedOf(tested)).toEqual([]);
  expect(tested.reason).toBeUndefined();
  expect(checkOf(tested, "inferred:content")).toMatchObject({
    result: "passed",
    observed: {
      tables: 13,
      differing: 0,
      not_compared: 2,
    },
  });
  expect(comparedContentText(tested.checks)).toMatch(/^content of 13 tables compared/);
});

test("a changed value fails the test, which names each table and quotes no row", async () => {
  const tested = await testWith(
    ["'secret note 9999'", "'secret mote 9999'"],
    ["1.1000000000", "1.1000000001"],
    ["(2,'b','", "(2,'x','"],
    ["(1),\n(1),\n(2)", "(1),\n(2),\n(2)"],
    ["(1,'a');", "(1,'b');"],
  );
  expect(failedOf(tested)).toEqual(["inferred:content"]);
  const observed = checkOf(tested, "inferred:content")?.observed;
  expect(observed).toMatchObject({ tables: 13, differing: 5 });
  expect(String(observed?.["differing_tables"]).split(", ").toSorted()).toEqual([
    "shop.aria",
    "shop.history (history)",
    "shop.kinds",
    "shop.orders",
    "shop.twice",
  ]);
  expect(JSON.stringify(tested)).not.toMatch(/secret [nm]ote/);
});

test("the order of rows does not count", async () => {
  expect(failedOf(await testWith(["(1),\n(1),\n(2)", "(1),\n(2),\n(1)"]))).toEqual([]);
});

test("a digest can be recomputed with an identity; the metadata alone confirm no guess", async () => {
  const key = (await openContentKey(backup.sourceMetadata, [place.identity])) ?? Buffer.of();
  const own = createHmac("sha256", key).update("rows").digest();
  const sum = createHash("sha256").update(own).update("(7)").digest("hex");
  const tag = createHmac("sha256", key)
    .update(JSON.stringify(["od-d `name", "we;ird`t", "1", sum]))
    .digest("hex")
    .slice(0, 32);
  const tables = backup.sourceMetadata["tables"] as { name: string; content?: string }[];
  expect(tables.find(({ name }) => name === "`od-d ``name`.`we;ird``t`")?.content).toBe(tag);
  expect(JSON.stringify(backup.sourceMetadata)).not.toContain(sum);
});

test("an older backup without digests, or one of another release, is tested as before, and its content is not called compared", async () => {
  for (const more of [{ content: undefined }, { content_key: undefined }, { dump_version: "10.6.1" }]) {
    const tested = await testIt(backup, more);
    expect(tested.reason).toBeUndefined();
    expect(comparedContentText(tested.checks)).toMatch(/content not compared/);
  }
});

test("if there is no time, nothing is called compared", async () => {
  const metadata = backup.sourceMetadata;
  const key = (await openContentKey(metadata, [place.identity])) ?? Buffer.of();
  const sandbox = await mariadb.findSandbox(metadata, server.source);
  const bytes = await plaintext();
  async function* once(): AsyncGenerator<Buffer, void, undefined> {
    yield await Promise.resolve(bytes);
  }
  const restored = await sandbox.restore(once(), { scratchDir: place.scratch, signal: never });
  try {
    const compared = async (budget_ms: number) =>
      ((await restored.compareContent?.({ metadata, key, budget_ms, signal: never })) ?? []).map(
        ({ id, result }) => `${id} ${result}`,
      );
    expect(await compared(0)).not.toContain("inferred:content passed");
    expect(await compared(600_000)).toContain("inferred:content passed");
  } finally {
    await restored.close();
  }
});
