import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCiphertext } from "../../../src/crypto/ciphertext.ts";
import { unseal } from "../../../src/crypto/unseal.ts";
import { objectsMetadata } from "../../../src/engines/content/tagged-objects.ts";
import { writeConnectionFile } from "../../../src/engines/mariadb/connection/connection.ts";
import { listObjects } from "../../../src/engines/mariadb/content/list-objects.ts";
import { findClient } from "../../../src/engines/mariadb/connection/programs.ts";
import { openSession } from "../../../src/engines/mariadb/connection/source-session.ts";
import { openContentKey } from "../../../src/runs/content-key.ts";
import type { RestoreTestResult } from "../../../src/runs/restore-and-check.ts";
import type { MadeBackup } from "../../../src/runs/write-encrypted-dump.ts";
import { backUp, testBackup } from "../back-and-test.ts";
import { makeTestPlace, reseal, type TestPlace } from "../scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "../source-mariadb.ts";

/** What few databases of MariaDB and MySQL have besides rows: it is compared, or named. */

let place: TestPlace;
let server: SourceMariadb;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMariadb(place.dir);
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

const isMysql = (): boolean => server.product === "MySQL";

function backedUp(sql: string): Promise<MadeBackup> {
  server.sql(
    `drop database if exists shop; create database shop; use shop; create table t (a int); insert into t values (1); ${sql}`,
  );
  return backUp(place, server.source);
}

/** Tests the backup with another text in its dump. */
async function testWith(
  made: MadeBackup,
  was: Buffer | string,
  is: Buffer | string,
): Promise<RestoreTestResult> {
  const pieces: Buffer[] = [];
  for await (const piece of unseal(readCiphertext({ path: made.path }), [place.identity]))
    pieces.push(Buffer.from(piece));
  const dump = Buffer.concat(pieces);
  const at = dump.indexOf(was);
  expect(at).toBeGreaterThan(0);
  const rest = dump.subarray(at + Buffer.from(was).length);
  const instead = await reseal(place, Buffer.concat([dump.subarray(0, at), Buffer.from(is), rest]));
  return testBackup(place, server.source, made, { instead });
}

const differing = ({ checks }: RestoreTestResult): unknown =>
  checks.find(({ id }) => id === "inferred:objects")?.observed?.["differing_objects"];
const said = ({ checks }: RestoreTestResult): string => comparedContentText(checks) ?? "";

test("a byte that is no text, in the default of a column, counts", async () => {
  const made = await backedUp(
    "create table codes (b binary(4) default x'ff00fe01', é int, key ü (é)) comment 'é'",
  );
  const tested = await testBackup(place, server.source, made);
  expect(tested.reason).toBeUndefined();
  expect(said(tested)).toBe("content of 2 tables compared; 4 objects compared");
  // MySQL writes such a default in hex digits.
  const [was, is] = isMysql() ? ["0xFF00FE01", "0xFD00FE01"] : [Buffer.of(0x27, 0xff), Buffer.of(0x27, 0xfd)];
  expect(differing(await testWith(made, was, is))).toBe("table shop.codes (other)");
});

test("a library of code is an object like any other", async () => {
  if (!isMysql()) return;
  const text = "create library code language javascript as $$ export function f(n) { return n } $$";
  const made = await backedUp(text);
  const tested = await testBackup(place, server.source, made);
  expect(tested.reason).toBeUndefined();
  expect(said(tested)).toBe("content of 1 table compared; 3 objects compared");
  expect(differing(await testWith(made, "return n", "return 7"))).toBe("library shop.code (other)");
});

test("a database that nobody may change passes, and that is named, because no dump has it", async () => {
  if (!isMysql()) return;
  const made = await backedUp("alter schema shop read only = 1");
  server.sql("alter schema shop read only = 0");
  const tested = await testBackup(place, server.source, made);
  expect(tested.reason).toBeUndefined();
  expect(said(tested)).toContain("not compared: read only of database shop");
});

test("what time or the host decides is named: where files are, restarts of a sequence, partitions by time", async () => {
  const outside = join(place.dir, "outside");
  mkdirSync(outside);
  chmodSync(outside, 0o777);
  const files = `create table elsewhere (a int) data directory = '${outside}'`;
  const made = await backedUp(
    isMysql()
      ? files
      : `${files}; create sequence rounds maxvalue 2 cycle nocache; do nextval(rounds), nextval(rounds), nextval(rounds);
         create table grows (a int) with system versioning partition by system_time interval 1 month auto`,
  );
  const tested = await testBackup(place, server.source, made);
  expect(tested.reason).toBeUndefined();
  const more = isMysql() ? "" : ", partitions by time shop.grows, restarts of sequence shop.rounds";
  expect(said(tested)).toContain(`objects compared, not compared: data directory shop.elsewhere${more}`);
});

test("a default that the server prints with a question mark is named, because another character may be lost", async () => {
  const made = await backedUp(
    "create table codes (a varchar(9) character set cp1251 default x'98', b varchar(9) character set cp1251 default 'b', c varchar(9) default '?')",
  );
  const tested = await testBackup(place, server.source, made);
  expect(tested.reason).toBeUndefined();
  const named = "default or element with question mark shop.codes.a";
  expect(said(tested)).toBe(`content of 2 tables compared; 3 objects compared, not compared: ${named}`);
});

test("grants and accounts are in no dump, and are named if there are some, or if the server does not show them", async () => {
  const testedAs = async (user: string, databases: "all" | null): Promise<string> => {
    const connection = { kind: "url", url: server.url(user, user === "root" ? "" : "x") } as const;
    const made = await backUp(place, { ...server.source, connection, databases });
    const tested = await testBackup(place, server.source, made);
    expect(tested.reason).toBeUndefined();
    return said(tested).replace(/^.* objects compared/, "");
  };
  await backedUp(`create procedure sweep() delete from t; create user app@localhost, few@localhost identified by 'x';
    grant select, show view, trigger, event on shop.* to few@localhost`);
  server.sql("grant select on `sho_`.* to app@localhost");
  expect(await testedAs("root", null)).toBe(", not compared: grants to accounts that no dump has");
  const both = ", not compared: grants to accounts that no dump has, accounts that no dump has";
  expect(await testedAs("root", "all")).toBe(both);
  expect(await testedAs("few", null)).toContain(
    "grants to accounts (in no dump and not shown by the server)",
  );
  const limited = { kind: "url", url: server.url("few", "x") } as const;
  const { sourceMetadata } = await backUp(place, { ...server.source, connection: limited, databases: "all" });
  // A summary has no room for all that the server does not show to such a user.
  expect(sourceMetadata).toMatchObject({
    content: { objects: { left_out: expect.arrayContaining([["accounts_not_shown", null]]) as unknown } },
  });
  server.sql(
    "revoke all on `sho_`.* from app@localhost; revoke all on shop.* from few@localhost; grant all on other.* to app@localhost",
  );
  expect(await testedAs("root", null)).toBe("");
  server.sql("grant execute on procedure shop.sweep to app@localhost");
  expect(await testedAs("root", null)).toBe(", not compared: grants to accounts that no dump has");
  server.sql(
    "revoke execute on procedure shop.sweep from app@localhost; grant select (a) on shop.t to app@localhost",
  );
  expect(await testedAs("root", null)).toBe(", not compared: grants to accounts that no dump has");
  server.sql(
    "drop user app@localhost, few@localhost; create server far foreign data wrapper mysql options (host 'far')",
  );
  expect(await testedAs("root", "all")).toBe(
    ", not compared: servers or functions of libraries that no dump has",
  );
  server.sql("drop server far");
  expect(await testedAs("root", "all")).toBe("");
});

test("the list of an earlier agent is compared as that agent made it, and one of a later agent is not", async () => {
  const made = await backedUp("create table codes (b binary(4) default x'ff00fe01')");
  const { content, ...others } = made.sourceMetadata as unknown as {
    content: { objects: Record<string, unknown> };
  };
  const key = (await openContentKey(others, [place.identity]))!;
  const connection = await writeConnectionFile(server.source.connection, place.scratch);
  const session = await openSession(await findClient(), connection, new AbortController().signal);
  const listed = await listObjects(session, ["shop"], { budget_ms: 60_000, as: "earlier" });
  await session.close();
  await connection.remove();
  const testWithList = (objects: object): Promise<RestoreTestResult> =>
    testBackup(place, server.source, made, { metadata: { content: { ...content, objects } } });
  const earlier = await testWithList(objectsMetadata(listed ?? [], key));
  expect(earlier.reason).toBeUndefined();
  expect(said(earlier)).toBe("content of 2 tables compared; 3 objects compared");
  const other = listed!.map((each) => ({ ...each, definition: `${each.definition}!` }));
  expect(differing(await testWithList(objectsMetadata(other, key)))).toContain("table shop.codes (other)");
  expect(content.objects).toMatchObject({ v: 5 });
  for (const v of [2, 4, 6])
    expect(said(await testWithList({ ...content.objects, v }))).toBe(
      "content of 2 tables compared; objects not compared",
    );
});
