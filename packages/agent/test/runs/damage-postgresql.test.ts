import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { DamageTable, ON_WAY, seenForDays } from "./damage-table.ts";
import {
  type Damage,
  type DamagedSource,
  EARLIER,
  LOST_OR_ODD,
  MORE,
  SCHEMA,
  startDamagedSource,
} from "./damaged-postgresql.ts";
import { flipBit, makeTestPlace, type TestPlace, reseal } from "./scratch.ts";

/** What happens to a PostgreSQL database, and what notices it by default: docs/damage.md. */

const table = new DamageTable("PostgreSQL");
const own = new DamageTable(
  "PostgreSQL",
  "PostgreSQL alone",
  (what) => !what.endsWith(ON_WAY) && !LOST_OR_ODD.has(what) && !EARLIER.has(what),
);
let place: TestPlace;
let source: DamagedSource;
let backup: MadeBackup;
let passed: RestoreTestResult;

beforeAll(async () => {
  place = await makeTestPlace();
  source = await startDamagedSource(place);
  backup = await source.back();
  passed = await source.test(backup);
});

afterAll(async () => {
  await source?.server.close();
  await place?.remove();
});

test("damage at the source is noticed as the table says", async () => {
  expect(passed.reason).toBeUndefined();
  const made = await source.damaged(
    `alter table dropped rename to gone; delete from emptied; delete from halved where id > 50; delete from steady where id > 90 and id not in (select of_steady from lines where id < 0);
     drop index by_n`.replace(
      "delete from steady",
      "alter table lines drop constraint of_steady; delete from steady",
    ),
    source.back,
  );
  const tested = await source.test(made, made, seenForDays(passed));
  table.noticed("a table dropped or renamed at the source", tested, "public.dropped");
  table.noticed("a table emptied at the source", tested, "public.emptied");
  table.noticed("half of a table's rows deleted at the source", tested, "public.halved");
  table.noticed("10 % of a steady table's rows deleted at the source", tested, "public.steady");
  expect(made.sourceMetadata["schema_hash"]).not.toBe(backup.sourceMetadata["schema_hash"]);
  table.says("an index dropped at the source", "reported as drift");
});

test("objects that the source lost are missed, each kind by name", async () => {
  const made = await source.damaged(
    `drop rule kept on few; drop policy own on lines; drop trigger touched on lines; drop trigger of_parts on parts;
     drop event trigger at_end; drop view few; drop materialized view counted; drop function twice, touch, told;
     drop extension pg_trgm; select lo_unlink(4711); drop type names; drop domain positive_n cascade; drop type mood cascade`,
    source.back,
  );
  const tested = await source.test(made, made, seenForDays(passed));
  for (const [what, names] of [
    ["all triggers dropped at the source", "triggers 0 of"],
    ["most functions dropped at the source", "functions 1 of"],
    ["all views dropped at the source", "views 0 of"],
    ["all policies dropped at the source", "policies 0 of"],
    ["all rules dropped at the source", "rules 0 of"],
    ["all large objects deleted at the source", "large objects 0 of"],
    ["most types dropped at the source", "types "],
  ] as const)
    own.noticed(what, tested, names);
});

test("zeroed pages without checksums, and another database, are noticed as the table says", async () => {
  const path = source.server.sql("\\connect shop\nselect pg_relation_filepath('letters')");
  const zeroed = await source.damaged("", source.back, () => {
    const oid = source.server.sql("select oid from pg_database where datname = 'damaged'");
    const file = openSync(
      join(source.server.sql("show data_directory"), path.replace(/^base\/\d+/, `base/${oid}`)),
      "r+",
    );
    writeSync(file, Buffer.alloc(5 * 8192), 0, 5 * 8192, 2 * 8192);
    closeSync(file);
  });
  own.noticed(
    "pages of a table zeroed, without checksums",
    await source.test(zeroed, zeroed, seenForDays(passed)),
    "letters",
  );

  const elsewhere = await source.damaged("", source.back);
  expect(elsewhere.origin.identity).not.toEqual(backup.origin.identity);
  own.says("the connection leads to a copy under another name", "reported as another identity");
});

/** Each list is one dump: a receipt has no room to name everything at once. */
const ON_THE_WAY: readonly (readonly Damage[])[] = [
  // The schema's hash alone notices it, and does not say what it is.
  [["a column's type narrowed on the way", "alter table narrowed alter id type int", ""]],
  [
    ["a table lost on the way", "drop table dropped", "public.dropped"],
    ["a row lost on the way", "delete from emptied where id = 7", "public.emptied"],
    ["one value changed on the way", "update changed set note = 'mote 7' where id = 7", "public.changed"],
    ["an extension lost on the way", "drop extension pg_trgm", "pg_trgm"],
  ],
  [
    ["an index lost on the way", "drop index by_n", "index public.by_n (missing)"],
    [
      "a constraint lost on the way",
      "alter table lines drop constraint positive",
      "public.lines.positive (missing)",
    ],
    ["a trigger lost on the way", "drop trigger touched on lines", "trigger public.lines.touched (missing)"],
    [
      "a function or procedure lost on the way",
      "drop function twice",
      "function public.twice(integer) (missing)",
    ],
    ["a view lost on the way", "drop view few", "view public.few (missing)"],
  ],
  [
    ["a policy lost on the way", "drop policy own on lines", "policy public.lines.own (missing)"],
    ["a comment lost on the way", "comment on table lines is null", "comment table public.lines (missing)"],
    [
      "the next value of a sequence or key reset on the way",
      "select setval('lines_id_seq', 1)",
      "sequence value public.lines_id_seq (other)",
    ],
    ["a large object lost on the way", "select lo_unlink(4711)", "large objects (missing)"],
    [
      "something added on the way",
      "create view more as select 1 as one",
      "view public.more (not at the source)",
    ],
  ],
];

test.each(ON_THE_WAY.map((each) => [each]))("on the way: %#", async (damages) => {
  const dump = await source.damaged(damages.map((each) => each[1]).join(";\n"), (name) =>
    Promise.resolve(source.dumpOf(name)),
  );
  const tested = await source.test(backup, await reseal(place, dump));
  for (const [what, , names] of damages) table.noticed(what, tested, names);
  expect(JSON.stringify([tested, backup.sourceMetadata])).not.toContain("never-to-be-seen");
});

test("another database's dump, bytes that are lost or other, and another order of the tables", async () => {
  const staging = await source.test(backup, await reseal(place, source.dumpOf("staging")));
  table.noticed("another database's dump in its place", staging, "");
  await expect(source.test(backup, await flipBit(place, backup))).resolves.toMatchObject({
    result: "failed",
    checks: [],
  });
  table.says("a bit flipped in what is stored", "refused");
  const whole = source.dumpOf("shop");
  const flipped = Buffer.from(whole);
  flipped[flipped.lastIndexOf("\tnote 77\n") + 6]! ^= 1;
  const other = await source.test(backup, await reseal(place, flipped));
  own.noticed("a bit flipped in the dump before it was encrypted", other, "public.");
  const cut = await source.test(backup, await reseal(place, whole.subarray(0, whole.length * 0.8)));
  expect(cut).toMatchObject({ result: "failed", checks: [] });
  table.says("the end of the dump cut off", "refused");
  source.server.sql(`create database turned template template0;\n\\connect turned\n${turned(SCHEMA)}${MORE}`);
  const ordered = await source.test(backup, await reseal(place, source.dumpOf("turned")));
  expect(ordered.reason).toBeUndefined();
  table.says("the tables in another order", "passes");
});

/** The first tables are made the other way round. */
function turned(schema: string): string {
  const lines = schema.split("\n");
  const tables = lines.filter((line) => /^ {2}create table (?!lines)/.test(line));
  return [...tables.toReversed(), ...lines.filter((line) => !tables.includes(line))]
    .join("\n")
    .replace(/^([^]*)( {2}create extension[^\n]*\n)/, "$2$1");
}

test("every case of the tables is here", () => {
  table.everyCaseIsHeld();
  own.everyCaseIsHeld();
});
