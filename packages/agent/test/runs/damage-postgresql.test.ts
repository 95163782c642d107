import { execFileSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { newId } from "@attestore/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EarlierTests } from "../../src/checks/earlier-tests.ts";
import type { PassedTest } from "../../src/checks/passed-tests.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { DamageTable, seenForDays } from "./damage-table.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { flipBit, makeTestPlace, type TestPlace, reseal, type Resealed } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** What happens to a PostgreSQL database, and what notices it by default: docs/damage.md. */

const table = new DamageTable("PostgreSQL");
const own = new DamageTable("PostgreSQL", "PostgreSQL alone");
let place: TestPlace;
let server: SourcePostgres;
let backup: MadeBackup;
let passed: RestoreTestResult;

const ROWS = "select i, 'note ' || i from generate_series(1, 100) i";
const SCHEMA = `
  create extension pg_trgm;
  create table steady (id int primary key, note text); insert into steady ${ROWS};
  create table halved (id int primary key, note text); insert into halved ${ROWS};
  create table emptied (id int primary key, note text); insert into emptied ${ROWS};
  create table dropped (id int primary key, note text); insert into dropped ${ROWS};
  create table changed (id int, note text); insert into changed ${ROWS};
  create table narrowed (id bigint, note text); insert into narrowed ${ROWS};
  create table lines (id serial, of_steady int constraint of_steady references steady, n int constraint positive check (n > 0));
  insert into lines (of_steady, n) select i, i from generate_series(1, 100) i;
  create index by_n on lines (n);
  create function twice(int) returns int language sql as 'select 2 * $1';
  create function touch() returns trigger language plpgsql as 'begin return new; end';
  create trigger touched before update on lines for each row execute function touch();
  create view few as select * from lines limit 5;
  create policy own on lines using (n > 0);
  create rule kept as on delete to few do instead nothing;
  comment on table lines is 'of orders';
  select lo_from_bytea(4711, 'large');
`;

/** What other engines do not have. The test of another order leaves it as it is. */
const MORE = `
  create type mood as enum ('a', 'b', 'c');
  create domain positive_n as int constraint above check (value > 0);
  create collation german (provider = icu, locale = 'de-DE');
    create table moods (m mood, n positive_n);
  alter table lines enable row level security;
  grant select on steady to pg_monitor; grant update (note) on steady to pg_read_all_data;
  alter table changed owner to pg_monitor; revoke execute on function twice(int) from public;
  alter default privileges in schema public grant select on tables to pg_monitor;
  create publication sends for table lines;
  create function told() returns event_trigger language plpgsql as 'begin end';
  create event trigger at_end on ddl_command_end execute function told();
  create statistics of_lines on of_steady, n from lines;
    create table parts (d date) partition by range (d);
    create table parts_1 partition of parts for values from ('2026-01-01') to ('2027-01-01');
  create index parts_at on parts (d);
  create trigger of_parts before insert on parts for each row execute function touch(); alter table parts_1 disable trigger of_parts;
    create table spread (k int, x text, y text) partition by range (k);
  create sequence unused; select setval('unused', 500, false);
  create type names as range (subtype = text, subtype_opclass = text_pattern_ops);
  create aggregate added(int) (sfunc = int4pl, stype = int, sspace = 100);
  create index by_sum on lines ((n + id)); alter index by_sum alter column 1 set statistics 400;
  create conversion narrower for 'UTF8' to 'LATIN1' from utf8_to_iso8859_1; create conversion wider for 'LATIN1' to 'UTF8' from iso8859_1_to_utf8;
  create extension postgres_fdw; create server away foreign data wrapper postgres_fdw options (port '5432', host '192.0.2.1');
  create user mapping for pg_monitor server away options (user 'u', password 'never-to-be-seen'); create user mapping for public server away;
    create foreign table there (a int, b text) server away;
    create table letters (id int primary key, mail text, note text);
  insert into letters select i, 'customer' || i || '@example.com', 'please leave parcel number ' || i || ' with the neighbours, thanks' from generate_series(1, 2000) i;
  do $$ begin for i in 1..30 loop
    execute format('create table small_%s (id int)', i); execute format('insert into small_%s select generate_series(1, 20)', i);
  end loop; end $$;
`;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
  server.sql(`
    create database shop template template0;
    \\connect shop
    ${SCHEMA}
    ${MORE}
    create database staging template template0;
    \\connect staging
    create table steady (id int primary key, mail text); insert into steady ${ROWS};
    create table guests (id int); insert into guests values (1);`);
  backup = await back();
  passed = await testIt(backup);
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

const back = (database = "shop"): Promise<MadeBackup> =>
  backUp(place, {
    ...server.source,
    connection: { kind: "url", url: server.url(server.environment["PGUSER"] ?? "", "", database) },
  });

const testIt = (
  made: MadeBackup,
  instead: Resealed = made,
  seen?: EarlierTests,
): Promise<RestoreTestResult> => testBackup(place, server.source, made, { instead, seen });

/**
 * Does something with a copy of the source in which `sql` was run, and whose files `ruin` changed
 * before.
 */
async function damaged<T>(
  sql: string,
  use: (name: string) => Promise<T>,
  ruin: () => void = () => undefined,
): Promise<T> {
  server.sql("checkpoint; create database damaged template shop strategy file_copy");
  try {
    ruin();
    server.sql(`\\connect damaged\n${sql}`);
    return await use("damaged");
  } finally {
    server.sql("drop database damaged");
  }
}

const dumpOf = (database: string): Buffer =>
  execFileSync(join(server.bin, "pg_dump"), ["--format=custom", "--compress=0", database], {
    env: { ...process.env, ...server.environment, PGTZ: "UTC" },
    maxBuffer: 64 << 20,
  });

test("damage at the source is noticed as the table says", async () => {
  expect(passed.reason).toBeUndefined();
  const made = await damaged(
    `alter table dropped rename to gone; delete from emptied; delete from halved where id > 50; delete from steady where id > 90 and id not in (select of_steady from lines where id < 0);
     drop index by_n`.replace(
      "delete from steady",
      "alter table lines drop constraint of_steady; delete from steady",
    ),
    back,
  );
  const tested = await testIt(made, made, seenForDays(passed));
  table.noticed("a table dropped or renamed at the source", tested, "public.dropped");
  table.noticed("a table emptied at the source", tested, "public.emptied");
  table.noticed("half of a table's rows deleted at the source", tested, "public.halved");
  table.noticed("10 % of a steady table's rows deleted at the source", tested, "public.steady");
  expect(made.sourceMetadata["schema_hash"]).not.toBe(backup.sourceMetadata["schema_hash"]);
  table.says("an index dropped at the source", "told as drift");
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
  const less = await damaged("delete from halved where id > 30; delete from small_24", back);
  const halved = (rows: number) => [{ id: "inferred:rows:public.halved", observed: { rows } }];
  const crept = await testIt(
    less,
    less,
    days(3, (day) => ({ checks: halved(day === 0 ? 55 : 100) })),
  );
  own.noticed("45 % of a table's rows deleted, and again after a test passed", crept, "public.halved");
  const emptied = await testIt(
    less,
    less,
    days(3, () => ({ checks: passed.checks })),
  );
  own.noticed("the 24th of many small tables emptied", emptied, "public.small_24");
});

test.each([
  ["every value of a column set to NULL", "update letters set mail = null", "mail"],
  [
    "a column overwritten by what ransomware writes",
    "update letters set note = encode(sha256(note::bytea) || sha256(id::text::bytea), 'base64')",
    "note",
  ],
])("at the source, what the profile shows: %s", async (what, sql, column) => {
  const made = await damaged(sql, back);
  const tested = await testIt(made, made, usual());
  expect(tested.profile?.suspicious).toContainEqual(
    expect.objectContaining({ table: "public.letters", column }),
  );
  own.says(what, "told as suspicious");
});

test("zeroed pages without checksums, and another database, are noticed as the table says", async () => {
  const path = server.sql("\\connect shop\nselect pg_relation_filepath('letters')");
  const zeroed = await damaged("", back, () => {
    const oid = server.sql("select oid from pg_database where datname = 'damaged'");
    const file = openSync(
      join(server.sql("show data_directory"), path.replace(/^base\/\d+/, `base/${oid}`)),
      "r+",
    );
    writeSync(file, Buffer.alloc(5 * 8192), 0, 5 * 8192, 2 * 8192);
    closeSync(file);
  });
  own.noticed(
    "pages of a table zeroed, without checksums",
    await testIt(zeroed, zeroed, seenForDays(passed)),
    "letters",
  );

  const elsewhere = await damaged("", back);
  expect(elsewhere.origin.identity).not.toEqual(backup.origin.identity);
  own.says("the connection leads to a copy under another name", "told as another identity");
});

test("an event trigger at the source, which only a superuser may create", async () => {
  const made = await damaged(
    "create event trigger at_start on ddl_command_start execute function told()",
    back,
  );
  const tested = await testIt(made);
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
  await expect(testIt(old)).rejects.toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringContaining("an event trigger") as string,
  });
});

/** Each list is one dump: a receipt has no room to name everything at once. */
const ON_THE_WAY: readonly (readonly (readonly [what: string, sql: string, names: string])[])[] = [
  [
    ["a table lost on the way", "drop table dropped", "public.dropped"],
    ["a row lost on the way", "delete from emptied where id = 7", "public.emptied"],
    ["one value changed on the way", "update changed set note = 'mote 7' where id = 7", "public.changed"],
    ["a column's type narrowed on the way", "alter table narrowed alter id type int", ""],
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

const OF_POSTGRESQL: typeof ON_THE_WAY = [
  [
    [
      "a policy's condition changed on the way",
      "drop policy own on lines; create policy own on lines using (n > (0) or n < 0)",
      "policy public.lines.own (other)",
    ],
    [
      "a trigger disabled on the way",
      "alter table lines disable trigger touched",
      "trigger public.lines.touched (other)",
    ],
    [
      "a constraint no longer validated on the way",
      "alter table lines drop constraint positive; alter table lines add constraint positive check (n > 0) not valid",
      "constraint public.lines.positive (other)",
    ],
    [
      "row level security turned off on the way",
      "alter table lines disable row level security",
      "table public.lines (other)",
    ],
  ],
  [
    [
      "a value of an enum lost on the way",
      "alter type mood rename to before; create type mood as enum ('a', 'b'); alter table moods alter m type mood using m::text::mood; drop type before",
      "type public.mood (other)",
    ],
    [
      "an index of a partitioned table without those of its partitions",
      "drop index parts_at; create index parts_at on only parts (d)",
      "index public.parts_at (other)",
    ],
    [
      "a domain's condition changed on the way",
      "alter domain positive_n drop constraint above; alter domain positive_n add constraint above check (value >= 0)",
      "constraint public.positive_n.above (other)",
    ],
    ["a collation lost on the way", "drop collation german", "collation public.german (missing)"],
    [
      "extended statistics lost on the way",
      "drop statistics of_lines",
      "statistics public.of_lines (missing)",
    ],
  ],
  [
    [
      "a view's query changed on the way",
      "create or replace view few as select * from lines limit 6",
      "view public.few (other)",
    ],
    [
      "a rule changed on the way",
      "drop rule kept on few; create rule kept as on delete to few do also nothing",
      "rule public.few.kept (other)",
    ],
    [
      "a function that runs as its owner on the way",
      "alter function twice(int) security definer",
      "function public.twice(integer) (other)",
    ],
    [
      "a table's storage parameters changed on the way",
      "alter table steady set (fillfactor = 50)",
      "table public.steady (other)",
    ],
  ],
  [
    [
      "a partition detached on the way",
      "alter table parts detach partition parts_1",
      "table public.parts_1 (other)",
    ],
    ["a publication lost on the way", "drop publication sends", "publication sends (missing)"],
    [
      "an event trigger lost or disabled on the way",
      "alter event trigger at_end disable",
      "event trigger at_end (other)",
    ],
  ],
];

/** What nothing but the third version of the list of objects has. */
const RARER: typeof ON_THE_WAY = [
  [
    [
      "the next value of an unused sequence reset on the way",
      "alter sequence unused restart with 1",
      "sequence start public.unused (other)",
    ],
    [
      "a trigger that is off in one partition turned on again on the way",
      "alter table parts_1 enable trigger of_parts",
      "partition trigger public.parts_1.of_parts (missing)",
    ],
    [
      "columns of a partitioned table in another order",
      "alter table spread drop x; alter table spread add x text",
      "column order public.spread (other)",
    ],
    [
      "columns of a foreign table in another order",
      "alter foreign table there drop a; alter foreign table there add a int",
      "column order public.there (other)",
    ],
    ["a conversion lost on the way", "drop conversion narrower", "conversion public.narrower (missing)"],
  ],
  [
    [
      "a user mapping lost on the way",
      "drop user mapping for public server away",
      "user mapping public away (missing)",
    ],
    [
      "the operator class of a range type changed on the way",
      "drop type names; create type names as range (subtype = text)",
      "range public.names (other)",
    ],
    [
      "the space that an aggregate needs changed on the way",
      "drop aggregate added(int); create aggregate added(int) (sfunc = int4pl, stype = int)",
      "aggregate public.added(integer) (other)",
    ],
    [
      "the statistics target of an index's column lost on the way",
      "alter index by_sum alter column 1 set statistics -1",
      "index column public.by_sum 1 (missing)",
    ],
  ],
];

/** Rights are granted to roles that every server has. */
const PRIVILEGES: typeof ON_THE_WAY = [
  [
    [
      "the password of a user mapping changed on the way",
      "alter user mapping for pg_monitor server away options (set password 'other')",
      "user mapping options pg_monitor away (other)",
    ],
    [
      "the owner of a conversion changed on the way",
      "alter conversion wider owner to pg_monitor",
      "conversion owner public.wider (other)",
    ],
  ],
  [
    [
      "a grant lost on the way",
      "revoke select on steady from pg_monitor",
      "privileges table public.steady (other)",
    ],
    [
      "a right that was revoked from PUBLIC given back on the way",
      "grant execute on function twice(int) to public",
      "privileges function public.twice(integer) (other)",
    ],
    [
      "an owner changed on the way",
      "alter table changed owner to current_user",
      "privileges table public.changed (other)",
    ],
    [
      "default privileges lost on the way",
      "alter default privileges in schema public revoke select on tables from pg_monitor",
      "default privileges",
    ],
  ],
];

const CASES = [...ON_THE_WAY, ...OF_POSTGRESQL, ...RARER, ...PRIVILEGES];

test.each(CASES.map((each) => [each]))("on the way: %#", async (damages) => {
  const dump = await damaged(damages.map((each) => each[1]).join(";\n"), (name) =>
    Promise.resolve(dumpOf(name)),
  );
  const tested = await testIt(backup, await reseal(place, dump));
  const held = ON_THE_WAY.includes(damages) ? table : own;
  for (const [what, , names] of damages) held.noticed(what, tested, names);
  expect(JSON.stringify([tested, backup.sourceMetadata])).not.toContain("never-to-be-seen");
});

test("another database's dump, bytes that are lost or other, and another order of the tables", async () => {
  const staging = await testIt(backup, await reseal(place, dumpOf("staging")));
  table.noticed("another database's dump in its place", staging, "");
  await expect(testIt(backup, await flipBit(place, backup))).resolves.toMatchObject({
    result: "failed",
    checks: [],
  });
  table.says("a bit flipped in what is stored", "refused");
  const whole = dumpOf("shop");
  const flipped = Buffer.from(whole);
  flipped[flipped.lastIndexOf("\tnote 77\n") + 6]! ^= 1;
  const other = await testIt(backup, await reseal(place, flipped));
  own.noticed("a bit flipped in the dump before it was encrypted", other, "public.");
  const cut = await testIt(backup, await reseal(place, whole.subarray(0, whole.length * 0.8)));
  expect(cut).toMatchObject({ result: "failed", checks: [] });
  table.says("the end of the dump cut off", "refused");
  server.sql(`create database turned template template0;\n\\connect turned\n${turned(SCHEMA)}${MORE}`);
  const ordered = await testIt(backup, await reseal(place, dumpOf("turned")));
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
  const made = await damaged(
    `create function fickle(int) returns float8 immutable language plpgsql as 'begin return random(); end';
     create index by_chance on steady (fickle(id))`,
    back,
  );
  own.noticed(
    "an index made with a function that is declared immutable and is not",
    await testIt(made),
    "public.by_chance",
  );
});

test("at the source, an index whose function depends on the time, although the time stands still in a transaction", async () => {
  const made = await damaged(
    `create function seconds_ago(int) returns float8 immutable language sql as 'select extract(epoch from now()) - $1';
     create index by_age on steady (seconds_ago(id))`,
    back,
  );
  own.noticed(
    "an index made with a function of the time that is declared immutable",
    await testIt(made),
    "public.by_age",
  );
});

test("every case of the tables is here", () => {
  table.everyCaseIsHeld();
  own.everyCaseIsHeld();
});
