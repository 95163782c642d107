import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { newId } from "@attestore/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EarlierTests } from "../../src/checks/earlier-tests/earlier-tests.ts";
import type { PassedTest } from "../../src/checks/passed-tests.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { DamageTable, ON_WAY, seenForDays } from "./damage-table.ts";
import { type Damage, type DamagedSource, MORE, SCHEMA, startDamagedSource } from "./damaged-postgresql.ts";
import { flipBit, makeTestPlace, type TestPlace, reseal } from "./scratch.ts";

/** What happens to a PostgreSQL database, and what notices it by default: docs/damage.md. */

const table = new DamageTable("PostgreSQL");
const own = new DamageTable("PostgreSQL", "PostgreSQL alone", (what) => !what.endsWith(ON_WAY));
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

/** One test a day. */
const days = (count: number, test: (day: number) => Partial<PassedTest>): EarlierTests =>
  new EarlierTests({
    source: "shop",
    tests: Array.from({ length: count }, (_, day) => {
      const at = new Date(Date.now() - (day + 0.5) * 24 * 3600_000).toISOString();
      return { at, madeAt: at, backupId: newId("backup", Date.parse(at)), checks: [], ...test(day) };
    }),
  });

const usual = (): EarlierTests => days(5, () => ({ checks: passed.checks, profile: passed.profile! }));

test("at the source, what only earlier tests show", async () => {
  const less = await source.damaged("delete from halved where id > 30; delete from small_24", source.back);
  const halved = (rows: number) => [{ id: "inferred:rows:public.halved", observed: { rows } }];
  const crept = await source.test(
    less,
    less,
    days(3, (day) => ({ checks: halved(day === 0 ? 55 : 100) })),
  );
  own.noticed("45 % of a table's rows deleted, and again after a test passed", crept, "public.halved");
  const emptied = await source.test(
    less,
    less,
    days(3, () => ({ checks: passed.checks })),
  );
  own.noticed("the 24th of many small tables emptied", emptied, "public.small_24");
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

const SEVERAL = `
  do $$ begin for n in 1..4 loop
    execute format('create function f%s() returns int language sql as $f$select 1$f$', n); execute format('create view v%s as select 1 as one', n);
    execute format('create trigger t%s after insert on lines for each row execute function touch()', n); execute format('create policy p%s on lines', n);
    execute format('create rule r%s as on update to few do also select 1', n); execute format('create type c%s as (n int)', n);
  end loop; end $$;`;

test("one object of several that the source lost fails nothing, and is told by name and by number", async () => {
  const before = await source.damaged(SEVERAL, source.back);
  const usual = await source.test(before);
  expect(usual.result, usual.reason).toBe("passed");
  const made = await source.damaged(
    `${SEVERAL} drop trigger t2 on lines; drop function f2; drop view v2; drop policy p2 on lines; drop rule r2 on few; drop type c2; drop event trigger at_end;
     revoke update (note) on steady from pg_read_all_data`,
    source.back,
  );
  const tested = await source.test(made, made, seenForDays(usual));
  expect(tested.result, tested.reason).toBe("passed");
  expect(tested.profile?.suspicious).toEqual([]);
  const { functions, grants } = kindsOf(usual) as Record<string, number>;
  // The copy has no event triggers. The view had a grant of the default privileges.
  expect(kindsOf(tested)["fewer"]).toBe(
    `triggers 5 of 6, functions ${functions! - 1} of ${functions}, views 5 of 6, rules 4 of 5, policies 4 of 5, types 6 of 7, grants ${grants! - 2} of ${grants}`,
  );
  const was = otherObjects(before);
  const is = otherObjects(made);
  expect(is.sha256).not.toBe(was.sha256);
  expect([was.kinds["trigger"], is.kinds["trigger"]]).toEqual([6, 5]);
  expect([was.kinds["grant"], is.kinds["grant"]]).toEqual([grants, grants! - 2]);
  const names = is.named.map((each) => each.join(" "));
  expect(was.named.map((each) => each.join(" ")).filter((name) => !names.includes(name))).toEqual([
    "event_trigger at_end",
    "policy public.lines.p2",
    "rule public.few.r2",
    "type public.c2",
    "trigger public.lines.t2",
    "function public.f2()",
  ]);
  // The schema hash has views.
  expect(made.sourceMetadata["exact_schema_hash"]).not.toBe(before.sourceMetadata["exact_schema_hash"]);
  own.says(
    "a trigger, function, view, policy, rule, type or grant of several lost at the source",
    "reported as drift",
  );
});

const kindsOf = ({ checks }: RestoreTestResult): Readonly<Record<string, unknown>> =>
  checks.find(({ id }) => id === "inferred:kinds")?.observed ?? {};

interface OtherObjects {
  readonly sha256: string;
  readonly kinds: Readonly<Record<string, number>>;
  readonly named: readonly (readonly [kind: string, name: string])[];
}

const otherObjects = (made: MadeBackup): OtherObjects => made.sourceMetadata["other_objects"] as OtherObjects;

test("most grants that the source lost are missed, whichever roles it has", async () => {
  source.server.sql("create role clerk; create role auditor");
  const granted =
    "grant all on all tables in schema public to clerk; grant select on all tables in schema public to auditor; grant usage on schema public to clerk";
  const usual = await source.test(await source.damaged(granted, source.back));
  expect(usual.result, usual.reason).toBe("passed");
  const seen = seenForDays(usual);
  // Other owners, and roles that are gone with all that they had, but most grants are left.
  const fewer = await source.damaged(
    `${granted}; alter table emptied owner to auditor; revoke select on all tables in schema public from auditor`,
    source.back,
  );
  const few = await source.test(fewer, fewer, seen);
  expect(few.result, few.reason).toBe("passed");
  const revoked = await source.damaged(
    `${granted}; revoke all on all tables in schema public from clerk, auditor`,
    source.back,
  );
  own.noticed("most grants revoked at the source", await source.test(revoked, revoked, seen), ": grants ");
  source.server.sql("drop role clerk; drop role auditor");
});

test.each([
  ["every value of a column set to NULL", "update letters set mail = null", "mail"],
  [
    "a column overwritten by what ransomware writes",
    "update letters set note = encode(sha256(note::bytea) || sha256(id::text::bytea), 'base64')",
    "note",
  ],
])("at the source, what the profile shows: %s", async (what, sql, column) => {
  const made = await source.damaged(sql, source.back);
  const tested = await source.test(made, made, usual());
  expect(tested.profile?.suspicious).toContainEqual(
    expect.objectContaining({ table: "public.letters", column }),
  );
  own.says(what, "reported as suspicious");
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

test("an event trigger at the source, which only a superuser may create", async () => {
  const made = await source.damaged(
    "create event trigger at_start on ddl_command_start execute function told()",
    source.back,
  );
  const tested = await source.test(made);
  expect(tested.reason).toBeUndefined();
  expect(tested.checks.find(({ id }) => id === "inferred:unrestored")).toMatchObject({
    result: "passed",
    observed: { differing: 0 },
  });
  own.says("an event trigger at the source", "compared in the dump");
  // An agent from before had no list of what a test does not restore.
  const { content, ...more } = made.sourceMetadata as unknown as { content: Record<string, unknown> };
  const { unrestored: _, ...earlier } = content;
  const old = {
    ...made,
    sourceMetadata: { ...more, content: earlier } as unknown as typeof made.sourceMetadata,
  };
  await expect(source.test(old)).rejects.toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringContaining("an event trigger") as string,
  });
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

test("at the source, an index whose function is declared immutable and is not", async () => {
  const made = await source.damaged(
    `create function fickle(int) returns float8 immutable language plpgsql as 'begin return random(); end';
     create index by_chance on steady (fickle(id))`,
    source.back,
  );
  own.noticed(
    "an index made with a function that is declared immutable and is not",
    await source.test(made),
    "public.by_chance",
  );
});

test("at the source, an index whose function depends on the time, although the time stands still in a transaction", async () => {
  const made = await source.damaged(
    `create function seconds_ago(int) returns float8 immutable language sql as 'select extract(epoch from now()) - $1';
     create index by_age on steady (seconds_ago(id))`,
    source.back,
  );
  own.noticed(
    "an index made with a function of the time that is declared immutable",
    await source.test(made),
    "public.by_age",
  );
});

test("every case of the tables is here", () => {
  table.everyCaseIsHeld();
  own.everyCaseIsHeld();
});
