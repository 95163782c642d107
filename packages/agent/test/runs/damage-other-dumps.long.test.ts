import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EarlierTests } from "../../src/checks/earlier-tests/earlier-tests.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { dumpsIn } from "./dumps-in.ts";
import { DamageTable, seenForDays } from "./damage-table.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "./source-mariadb.ts";
import { type SourceMongodb, startSourceMongodb } from "./source-mongodb.ts";

/**
 * What happens to dumps of MariaDB, MongoDB and SQLite that other programs made: docs/damage.md.
 */

const HEADING = "Dumps of MariaDB, MongoDB and SQLite";
const TABLES = ["steady", "halved", "emptied", "dropped", "changed"];
let place: TestPlace;
let mariadb: SourceMariadb;
let mongodb: SourceMongodb;
let file: string;

beforeAll(async () => {
  place = await makeTestPlace();
  [mariadb, mongodb] = await Promise.all([startSourceMariadb(place.dir), startSourceMongodb(place.dir)]);
  mkdirSync(join(place.dir, "dumps"));
  file = join(place.dir, "dumps", "a.dump");
});

afterAll(async () => {
  await Promise.all([mariadb?.close(), mongodb?.close()]);
  await place?.remove();
});

const source = (): SourceConfigOf<"dumps"> => dumpsIn(join(place.dir, "dumps"), { pattern: "*.dump" });

/** What one kind of dump is made of, and how. */
interface Kind {
  /** Makes the shop anew and dumps it after a change. */
  readonly dump: (change: Change) => Promise<void>;
  /** The name of a table in checks. */
  readonly named: (table: string) => string;
}

type Change = "none" | "losses" | "nulls" | "bare" | "hollow" | "other" | "honest";

async function cases(
  table: DamageTable,
  { dump, named }: Kind,
): Promise<(change: Change) => Promise<RestoreTestResult>> {
  const tested = async (change: Change, seen?: EarlierTests): Promise<RestoreTestResult> => {
    await dump(change);
    return testBackup(place, source(), await backUp(place, source()), { seen });
  };
  const passed = await tested("none");
  expect(passed.reason).toBeUndefined();
  const seen = seenForDays(passed);
  const dumped = (change: Change): Promise<RestoreTestResult> => tested(change, seen);
  const lost = await dumped("losses");
  table.noticed("a table dropped or renamed at the source", lost, "dropped");
  table.noticed("a table emptied at the source", lost, named("emptied"));
  table.noticed("half of a table's rows deleted at the source", lost, named("halved"));
  table.noticed("10 % of a steady table's rows deleted at the source", lost, named("steady"));
  const told = await dumped("nulls");
  expect(told.reason).toBeUndefined();
  expect(told.profile?.suspicious.map(({ measure }) => measure)).toContain("nulls");
  table.says("every value of a column set to NULL at the source", "reported as suspicious");
  table.noticed("made without data", await dumped("hollow"), "inferred:");
  table.noticed("another database's dump in the directory", await dumped("other"), "changed");
  const honest = await dumped("honest");
  expect(honest.reason).toBeUndefined();
  table.says("rows added and changed, a few deleted, a new table", "passes");

  await dump("none");
  const made = await backUp(place, source());
  const whole = readFileSync(file);
  const flipped = Buffer.from(whole);
  flipped[whole.length >> 1]! ^= 1;
  writeFileSync(file, flipped);
  expect(await testBackup(place, source(), made)).toMatchObject({ result: "failed", checks: [] });
  table.says("a bit flipped in the file after its backup", "refused");
  writeFileSync(file, whole.subarray(0, whole.length * 0.9));
  const cut = await backUp(place, source());
  expect((await testBackup(place, source(), cut)).result).toBe("failed");
  table.says("the end of the file cut off before its backup", "refused");
  return dumped;
}

const note = (of: string): string => `concat('please leave parcel ', ${of}, ' with the neighbours')`;

test("damage to dumps of MariaDB is noticed as the table says", async () => {
  const table = new DamageTable("MariaDB", HEADING);
  const { socket } = mariadb;
  const changes: Record<Change, string> = {
    none: "",
    bare: "",
    hollow: "",
    losses:
      "drop table dropped; delete from emptied; delete from halved where id > 50; delete from steady where id > 90",
    nulls: "update emptied set note = null",
    other: `drop view few; drop table items; drop table ${TABLES.join(", ")}; create table logs (n int); insert into logs values (1)`,
    honest: `insert into steady select seq, 'note' from seq_101_to_130; update changed set note = concat(note, '!'); delete from halved where id < 3; create table orders as select * from steady`,
  };
  const make = (change: string): string => {
    mariadb.sql(`drop database if exists shop; create database shop; use shop;
      ${TABLES.map((name) => `create table ${name} (id int primary key, note text); insert into ${name} select seq, ${note("seq")} from seq_1_to_100;`).join("\n")}
      create table items (id int primary key, n int, constraint positive check (n > 0), key by_n (n)); insert into items select seq, seq from seq_1_to_100;
      create trigger touched before update on items for each row set new.n = new.n; create view few as select id from items;
      ${change}`);
    return `mariadb-dump --no-defaults --socket=${socket} --user=root`;
  };
  const dump = async (change: Change): Promise<void> => {
    const options = { bare: "--skip-triggers", hollow: "--no-data" };
    const program = make(changes[change]);
    execFileSync("sh", ["-euc", `${program} ${options[change as "bare"] ?? ""} shop >${file}`]);
    await Promise.resolve();
  };
  const dumped = await cases(table, { dump, named: (name) => `inferred:rows:restored.${name}` });
  table.noticed("made without triggers", await dumped("bare"), "triggers 0 of 1");
  make("");
  const odd = async (statement: string): Promise<RestoreTestResult> => {
    await dump("none");
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace("-- Dump completed", `${statement}\n-- Dump completed`),
    );
    return testBackup(place, source(), await backUp(place, source()));
  };
  table.noticed(
    "an index lost while it is restored",
    await odd("ALTER TABLE items DROP INDEX by_n;"),
    "by_n (missing)",
  );
  table.noticed(
    "a constraint lost while it is restored",
    await odd("ALTER TABLE items DROP CONSTRAINT positive;"),
    "positive (missing)",
  );
  table.noticed(
    "a trigger lost while it is restored",
    await odd("DROP TRIGGER touched;"),
    "touched (missing)",
  );
  table.noticed("a view lost while it is restored", await odd("DROP VIEW few;"), "few (missing)");
  table.everyCaseIsHeld();
});

test("damage to dumps of SQLite is noticed as the table says", async () => {
  const table = new DamageTable("SQLite", HEADING);
  const numbers = (from: number, to: number): string =>
    `with recursive c(n) as (values (${from}) union all select n + 1 from c where n < ${to})`;
  const changes: Record<Change, string> = {
    none: "",
    bare: "drop index by_n; drop trigger touched;",
    hollow: [...TABLES, "lines"].map((name) => `delete from ${name};`).join(" "),
    losses:
      "drop table dropped; delete from emptied; delete from halved where id > 50; delete from steady where id > 90;",
    nulls: "update emptied set note = null;",
    other: `${[...TABLES, "lines"].map((name) => `drop table ${name};`).join(" ")} create table logs (n int); insert into logs values (1);`,
    honest: `insert into steady ${numbers(101, 130)} select n, 'note' from c; update changed set note = note || '!'; delete from halved where id < 3; create table orders as select * from steady;`,
  };
  const dump = async (change: Change): Promise<void> => {
    rmSync(file, { force: true });
    execFileSync("sqlite3", [file], {
      input: `${TABLES.map((name) => `create table ${name} (id integer primary key, note text); insert into ${name} ${numbers(1, 100)} select n, 'please leave parcel ' || n || ' with the neighbours' from c;`).join("\n")}
        create table lines (id integer primary key, n int); insert into lines ${numbers(1, 100)} select n, n from c; create index by_n on lines (n);
        create trigger touched before update on lines begin select 1; end; ${changes[change]}`,
    });
    await Promise.resolve();
  };
  const dumped = await cases(table, { dump, named: (name) => `inferred:rows:${name}` });
  table.noticed("made without indexes and triggers", await dumped("bare"), "indexes 0 of 1");
  table.everyCaseIsHeld();
});

test("damage to dumps of MongoDB is noticed as the table says", async () => {
  const table = new DamageTable("MongoDB", HEADING);
  const { shop } = mongodb;
  const documents = (from = 0, to = 100): { _id: never; n: number; note: string }[] =>
    Array.from({ length: to - from }, (_, at) => ({
      _id: (from + at) as never,
      n: from + at,
      note: `please leave parcel ${from + at} with the neighbours`,
    }));
  const changes: Record<Change, () => Promise<unknown>> = {
    none: () => Promise.resolve(),
    bare: () => shop.collection("changed").dropIndex("by_n"),
    hollow: () => Promise.all(TABLES.map((name) => shop.collection(name).deleteMany({}))),
    losses: async () => {
      await shop.collection("dropped").drop();
      await shop.collection("emptied").deleteMany({});
      await shop.collection("halved").deleteMany({ n: { $gte: 50 } });
      await shop.collection("steady").deleteMany({ n: { $gte: 90 } });
    },
    nulls: () => shop.collection("emptied").updateMany({}, { $set: { note: null } }),
    other: async () => {
      await shop.dropDatabase();
      await shop.collection("logs").insertOne({ n: 1 });
    },
    honest: async () => {
      await shop.collection("steady").insertMany(documents(100, 130));
      await shop.collection("changed").updateMany({ n: { $lt: 50 } }, { $set: { more: true } });
      await shop.collection("halved").deleteMany({ n: { $lt: 3 } });
      await shop.collection("orders").insertMany(documents());
    },
  };
  const dump = async (change: Change): Promise<void> => {
    await shop.dropDatabase();
    for (const name of TABLES) await shop.collection(name).insertMany(documents());
    await shop.collection("changed").createIndex({ n: 1 }, { name: "by_n" });
    await changes[change]();
    execFileSync("mongodump", [`--uri=${mongodb.uri("shop")}`, `--archive=${file}`], { stdio: "ignore" });
  };
  await cases(table, { dump, named: (name) => `inferred:rows:shop.${name}` });

  await shop.dropDatabase();
  for (const name of TABLES) await shop.collection(name).insertMany(documents());
  await shop.collection("changed").createIndex({ n: 1 }, { name: "by_n", unique: true });
  await shop.createCollection("log", { capped: true, size: 65_536 });
  await shop.collection("log").insertOne({ n: 1 });
  execFileSync("mongodump", [`--uri=${mongodb.uri("shop")}`, `--archive=${file}`], { stdio: "ignore" });
  const objects = (tested: RestoreTestResult) => tested.checks.find(({ id }) => id === "inferred:objects");
  const whole = await testBackup(place, source(), await backUp(place, source()));
  expect(objects(whole)).toMatchObject({
    result: "passed",
    observed: { objects: 15, differing: 0, compared_with: "dump" },
  });
  expect(objects(whole)?.observed).not.toHaveProperty("not_compared");
  // A program in mongorestore's place that does its work without one thing.
  const instead = async (options: string): Promise<RestoreTestResult> => {
    const { PATH = "" } = process.env;
    const programs = join(place.dir, "instead");
    mkdirSync(programs, { recursive: true });
    writeFileSync(
      join(programs, "mongorestore"),
      `#!/bin/sh\nPATH=${PATH}\ncase "$*" in *archive*) exec mongorestore "$@" ${options};; esac\nexec mongorestore "$@"\n`,
      { mode: 0o755 },
    );
    process.env["PATH"] = `${programs}:${PATH}`;
    try {
      return await testBackup(place, source(), await backUp(place, source()));
    } finally {
      process.env["PATH"] = PATH;
    }
  };
  table.noticed(
    "an index lost while it is restored",
    await instead("--noIndexRestore"),
    "index shop.changed by_n (missing)",
  );
  table.noticed(
    "a collection lost while it is restored",
    await instead("--nsExclude=shop.log"),
    "collection shop.log (missing)",
  );
  const without = await instead("--noOptionsRestore");
  expect(without.reason).toBeUndefined();
  expect(objects(without)?.observed["not_compared_objects"]).toContain("option shop.log capped");
  table.says("a collection's options lost while it is restored", "named as not compared");
  table.everyCaseIsHeld();
});
