import { createCipheriv, createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import type { Profile } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EarlierTests, type PassedTest } from "../../src/checks/index.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { profileStatement, shareOf } from "../../src/engines/postgresql/profile/profiled-tables.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { childrenNamed, makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** What a restored copy of PostgreSQL looks like, and what stands out in it. */

const ROWS = 120_000;

let place: TestPlace;
let server: SourcePostgres;
let normal: RestoreTestResult;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
  // More than is read of one table: a sample has to find it.
  server.sql(`
    create domain words as text;
    create table orders (id int primary key, at timestamptz, note words, mail varchar(99), raw bytea, doc jsonb, price numeric(8, 2), tags text[], twice int generated always as (id * 2) stored);
    insert into orders select i, '2026-11-01'::timestamptz - (i % 500) * interval '1 day', 'please leave parcel number ' || i || ' with the neighbours, thanks',
      case when i % 4 = 0 then null else 'customer' || i || '@example.com' end, convert_to('picture of chair number ' || i, 'UTF8'),
      jsonb_build_object('colour', 'red', 'chairs', i % 7), i % 1000, array['a', 'b'] from generate_series(1, ${ROWS}) i;
    create index on orders (at);
    create table secret (name text); insert into secret select 'only ' || i from generate_series(1, 40) i;
    create schema "we ""ird\\";
    create table "we ""ird\\"."t\\abc" ("c ""o\\l" text);
    insert into "we ""ird\\"."t\\abc" select E'tab\\t line\\n end ' || i || E' \\\\N \\\\.' from generate_series(1, 60) i;
  `);
  normal = await testIt();
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

async function testIt(
  seen: EarlierTests | null = null,
  more: Partial<SourceConfigOf<"postgresql">> = {},
): Promise<RestoreTestResult> {
  const source = { ...server.source, ...more };
  const made = await backUp(place, source);
  const tested = await testBackup(place, source, made, { seen });
  expect(readdirSync(place.scratch)).toEqual([]);
  expect(childrenNamed("psql")).toEqual([]);
  return tested;
}

/** What is known after tests with these profiles, one a day. */
function after(...profiles: readonly (Profile | undefined)[]): EarlierTests {
  const tests = profiles.map((profile, index): PassedTest => {
    const at = `2026-11-${String(20 - index).padStart(2, "0")}T03:00:00.000Z`;
    return { at, madeAt: at, backupId: `bkp_${20 - index}`, checks: [], ...(profile ? { profile } : {}) };
  });
  return new EarlierTests({ source: "orders", tests, now: Date.parse("2026-11-23T12:00:00Z") });
}

const usual = (): EarlierTests => after(normal.profile, normal.profile, normal.profile);

test("a profile has counts and rates, nothing of small tables, and no value", () => {
  expect(normal.reason).toBeUndefined();
  const tables = normal.profile?.tables ?? [];
  const orders = tables.find(({ name }) => name === "public.orders");
  const columns = new Map(orders?.columns.map(({ name, ...rest }) => [name, rest]));
  expect(Math.abs((orders?.rows ?? 0) - ROWS)).toBeLessThan(ROWS * 0.1);
  expect([...columns.keys()].toSorted()).toEqual(
    ["at", "doc", "id", "mail", "note", "price", "raw", "tags"].toSorted(),
  );
  expect(columns.get("note")).toMatchObject({ nulls: 0, random: 0 });
  expect(columns.get("note")?.length).toBeGreaterThan(45);
  expect(columns.get("mail")?.nulls).toBeGreaterThan(235);
  expect(columns.get("mail")?.nulls).toBeLessThan(265);
  expect(columns.get("raw")).toMatchObject({ random: 0 });
  expect(columns.get("at")?.newest).toBe("2026-11-01");
  expect(columns.get("price")?.distinct).toBeLessThan(100);
  expect(columns.get("tags")).toEqual({ nulls: 0 });
  expect(tables.map(({ name }) => name)).not.toContain("public.secret");
  expect(tables.find(({ name }) => name.includes("ird"))).toMatchObject({
    rows: 60,
    columns: [{ nulls: 0, distinct: 1000 }],
  });
  expect(normal.profile).toMatchObject({ left_out: 1, suspicious: [] });
  expect(JSON.stringify(normal.profile)).not.toMatch(/neighbours|customer1|chair|only/);
});

test("a hundredth of a column's rows encrypted in place is suspicious, and fails only where the source says so", async () => {
  const key = createHash("sha256").update("the attacker's").digest();
  const ciphertext = (index: number): string => {
    const cipher = createCipheriv("aes-256-cbc", key, createHash("md5").update(String(index)).digest());
    return Buffer.concat([cipher.update(`please leave parcel number ${index}`), cipher.final()]).toString(
      "base64",
    );
  };
  const values = Array.from(
    { length: ROWS / 100 },
    (_, index) => `(${index * 100 + 1}, '${ciphertext(index)}')`,
  );
  server.sql(
    `update orders set note = v.note from (values ${values.join(", ")}) v (id, note) where orders.id = v.id`,
  );
  const told = await testIt(usual());
  expect(told.result).toBe("passed");
  expect(told.profile?.suspicious).toEqual([
    { table: "public.orders", column: "note", measure: "random", now: expect.any(Number), before: 0 },
  ]);
  const failed = await testIt(usual(), { onSuspicion: "fail" });
  expect(failed.result).toBe("failed");
  expect(failed.reason).toContain("attestore accept orders public.orders --because REASON");
  // The next test is not compared with a suspicious one.
  const later = await testIt(after(told.profile, normal.profile, normal.profile, normal.profile));
  expect(later.profile?.suspicious).toHaveLength(1);
});

test("of a table of more than 256 MiB, single rows of many pages are read", () => {
  const table = {
    name: "public.orders",
    schema: "public",
    table: "orders",
    bytes: 512 << 20,
    rows: 480_000,
    columns: [{ name: "id", kind: "plain" as const }],
  };
  expect(shareOf(table)).toBe(8 / 512);
  expect(shareOf({ ...table, rows: 1_200_000 })).toBe(0.01);
  // The table here is smaller than that, and the same share of it is read.
  const [rows, ids] = server.sql(profileStatement({ ...table, rows: 1_200_000 }, 7)).split("\n");
  const [, read] = /^-1\t([0-9]+)\t/.exec(rows ?? "") ?? [];
  expect(Number(read)).toBeGreaterThan(ROWS * 0.005);
  expect(Number(read)).toBeLessThan(ROWS * 0.02);
  expect(ids).toBe(`0\t${read}\t${read}\t\\N\t\\N`);
});

test("a constraint, a foreign key and an index that end every other session keep no table from being profiled or compared, and no index or key from being looked at", async () => {
  server.sql(`
    create schema ends;
    create function ends.all_others(text) returns boolean language plpgsql immutable as $$ begin
      perform pg_terminate_backend(pid) from pg_stat_activity where usename = current_user and pid <> pg_backend_pid();
      return true;
    end $$;
    create table ends.guarded (a text);
    insert into ends.guarded select 'row ' || i from generate_series(1, 100) i;
    alter table ends.guarded add check (ends.all_others(a)) not valid;
    create index on ends.guarded (ends.all_others(a));
    create type ends.kind as enum ('x');
    create function ends.as_number(ends.kind) returns int language plpgsql immutable as $$ begin
      perform ends.all_others('');
      return 1;
    end $$;
    create cast (ends.kind as int) with function ends.as_number(ends.kind) as implicit;
    create table ends.kinds (number int primary key);
    insert into ends.kinds values (1);
    create table ends.referring (kind ends.kind references ends.kinds);
    insert into ends.referring select 'x' from generate_series(1, 100);
  `);
  try {
    const tested = await testIt();
    expect(tested.reason).toBeUndefined();
    expect(tested.checks.find(({ id }) => id === "inferred:indexes")).toMatchObject({
      observed: { indexes: 4, unfit: 0 },
    });
    expect(tested.checks.find(({ id }) => id === "inferred:foreign_keys")).toMatchObject({
      observed: { foreign_keys: 1, check_constraints: 1, broken: 0 },
    });
    const content = (of: typeof tested) =>
      Number(of.checks.find(({ id }) => id === "inferred:content")?.observed["tables"]);
    expect(content(tested)).toBe(content(normal) + 3);
    const named = tested.profile?.tables.map(({ name }) => name) ?? [];
    expect(named.toSorted()).toEqual(
      [
        ...(normal.profile?.tables ?? []).map(({ name }) => name),
        "ends.guarded",
        "ends.referring",
      ].toSorted(),
    );
  } finally {
    server.sql("drop schema ends cascade");
  }
});

test("the dump's own functions, operators, casts and policies are not run", async () => {
  server.sql(`
    update orders set note = 'please leave parcel number ' || id || ' with the neighbours, thanks';
    create schema evil;
    create function evil.run(text) returns boolean language plpgsql as $$ begin raise 'was run'; end $$;
    create function evil.substr(text, int, int) returns text language plpgsql as $$ begin raise 'was run'; end $$;
    create function evil.octet_length(text) returns int language plpgsql as $$ begin raise 'was run'; end $$;
    alter database postgres set search_path = evil, public;
    create domain evil.checked as text;
    create table evil.guarded (a evil.checked);
    insert into evil.guarded select 'row ' || i from generate_series(1, 100) i;
    create policy p on evil.guarded using (evil.run(a));
    alter table evil.guarded enable row level security, force row level security;
    alter domain evil.checked add constraint c check (evil.run(value)) not valid;
  `);
  const tested = await testIt();
  const guarded = tested.profile?.tables.find(({ name }) => name === "evil.guarded");
  expect(tested.result, tested.reason).toBe("passed");
  expect(guarded).toMatchObject({ rows: 100, columns: [{ name: "a", nulls: 0 }] });
});
