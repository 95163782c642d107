import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { comparedContentText } from "@attestore/proof";
import { expect, test } from "vitest";
import type { RestoreTestResult } from "../../../src/runs/restore-and-check.ts";
import {
  back,
  controlOf,
  directory,
  postgres,
  run,
  source,
  testIt,
  useDumpsDirectory,
} from "./dumps-directory.ts";

useDumpsDirectory();

const DUMPS: readonly [name: string, command: string, format: string, check: string][] = [
  ["a.dump", "pg_dump -Fc -f a.dump postgres", "pg_dump-custom", "select count(*) as n from orders"],
  ["a.sql.gz", "pg_dump postgres | gzip >a.sql.gz", "pg_dump-plain", "select count(*) as n from orders"],
  ["a.sql.zst", "pg_dump postgres | zstd -q >a.sql.zst", "pg_dump-plain", "select count(*) as n from orders"],
  ["a.tar", "pg_dump -Ft -f a.tar postgres", "pg_dump-tar", "select count(*) as n from orders"],
  [
    "a.db",
    'sqlite3 a.db "create table orders (id); insert into orders select value from generate_series(1, 1000)"',
    "sqlite3-file",
    "select count(*) as n from orders",
  ],
];

test.each(DUMPS)("%s is restored and proven", async (name, command, format, query) => {
  run(command);
  const of = source({ checks: [{ id: "orders", query, expect: "n = 1000" }] });
  const backup = await back(of);
  const sha256 = createHash("sha256")
    .update(readFileSync(join(directory, name)))
    .digest("hex");
  // The receipt names the file by its digest, as it lies there.
  expect(backup.sourceMetadata).toMatchObject({
    engine: "dumps",
    dump_format: `reference:${format}`,
    original: { name, sha256 },
  });
  expect(JSON.stringify(backup.sourceMetadata)).not.toContain(directory);
  const tested = await testIt(of, backup);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  expect(tested.checks.map(({ id }) => id)).toContain("inferred:data");
  // What others dumped is ruined like any copy, to see whether the check can fail.
  const orders = format === "sqlite3-file" ? "orders" : "public.orders";
  expect(controlOf(tested, "orders")).toMatchObject({ noticed: [`an empty ${orders}`], not_tried: [] });
  const tables = format === "sqlite3-file" ? "1 table" : "2 tables";
  const objects = format.startsWith("pg_dump") ? "3 objects compared$" : "objects not compared";
  expect(comparedContentText(tested.checks)).toMatch(
    new RegExp(`^content of ${tables} compared; ${objects}`),
  );

  // Each has its way to be cut short, and to be changed afterwards.
  const whole = readFileSync(join(directory, name));
  writeFileSync(join(directory, name), whole.subarray(0, Math.floor(whole.length * 0.9)));
  expect(await testIt(of, backup)).toMatchObject({ result: "failed", checks: [] });
  const flipped = Buffer.from(whole);
  flipped[whole.length >> 1] = (flipped[whole.length >> 1] ?? 0) ^ 1;
  writeFileSync(join(directory, name), flipped);
  expect(await testIt(of, backup)).toMatchObject({ result: "failed", checks: [] });
  rmSync(join(directory, name));
  await expect(testIt(of, backup)).rejects.toMatchObject({ code: "ciphertext_unavailable" });
  // One that was cut before anybody registered it.
  writeFileSync(join(directory, name), whole.subarray(0, Math.floor(whole.length * 0.9)));
  const cut = await back(of).catch(() => null);
  if (cut !== null) expect((await testIt(of, cut)).result).toBe("failed");
});

test("several dumps of pg_dump in a file are restored, and refused if one was cut short", async () => {
  run("createdb other && psql -qc 'create table others (n int)' other && pg_dump other >other.sql");
  run("pg_dump postgres >own.sql && pg_dump -t tags postgres >tags.sql");
  run("cat tags.sql other.sql >small && cat other.sql own.sql >whole");
  const of = source({ pattern: "whole" });
  expect((await testIt(of, await back(of))).reason).toBeUndefined();
  run("mv small whole");
  expect((await testIt(of, await back(of))).reason).toBeUndefined();
  // Without the lines with which newer versions restrict psql. It would stop there.
  run(
    "sed '/^CREATE TABLE/,$d; /^.restrict/d' other.sql >whole && sed '/^.\\(un\\)\\?restrict /d' own.sql >>whole",
  );
  expect((await testIt(of, await back(of))).reason).toContain("the file has several dumps, and one was cut");
});

test("an SQL dump that has lines of another dump in a function, a comment and a row passes", async () => {
  const other =
    "--\n-- PostgreSQL database dump\n--\n\n-- Dumped from database version 9.1\n-- Name: x; Type: TABLE; Schema: public; Owner: x\nCREATE TABLE x ();\n";
  postgres.sql(`create database docs template template0;
    \\connect docs
    create table pages (id int, body text); insert into pages values (1, 'it''s: \n${other}');
    comment on table pages is '${other}';
    create function sample() returns text language sql as $$ select '${other}' $$`);
  for (const options of ["", "--inserts"]) {
    run(`pg_dump ${options} docs >docs.sql`);
    const of = source();
    const tested = await testIt(of, await back(of));
    expect(tested.reason).toBeUndefined();
    const objects = tested.checks.find(({ id }) => id === "inferred:objects");
    expect(objects?.observed).toMatchObject({ objects: 3, differing: 0 });
    expect(objects?.observed).not.toHaveProperty("not_compared");
  }
});

test("a dump that quotes every name passes, and its objects are compared; so does one of a database that does", async () => {
  postgres.sql(`create database quoting template template0;
    \\connect quoting
    create schema app; create type app.mood as enum ('sad', 'ok');
    create table app.t (id int primary key, m app.mood default 'ok'); insert into app.t values (1);
    create function app.f(a text, m app.mood, "C" "char"[]) returns int language sql immutable as 'select 1';
    create procedure app.p(a int, variadic t text[]) language sql as 'select 1';
    create aggregate app.total(app.mood) (sfunc = array_append, stype = app.mood[]);
    create index on app.t (m); create view app.v as select id from app.t`);
  const objectsOf = async (made: string) => {
    run(`pg_dump ${made}`, { PGDATABASE: "quoting" });
    const of = source();
    const tested = await testIt(of, await back(of));
    expect(tested.reason).toBeUndefined();
    return tested.checks.find(({ id }) => id === "inferred:objects")?.observed;
  };
  const plain = await objectsOf("--quote-all-identifiers >docs.sql");
  expect(plain).toMatchObject({ objects: 10, differing: 0 });
  expect(plain).not.toHaveProperty("not_compared");
  // pg_restore prints a schema's name by itself, without quotes.
  const archive = await objectsOf("-Fc --quote-all-identifiers >docs.dump");
  expect(archive).toMatchObject({ objects: 9, differing: 0, not_compared_objects: "schema app" });
  postgres.sql("alter database quoting set quote_all_identifiers = on");
  expect(await objectsOf("-Fc >docs.dump")).toMatchObject({ differing: 0 });
});

test("zeros in the place of gzip's last piece, which gzip itself ignores, hide no lost end", async () => {
  run("pg_dump postgres >whole.sql; dd if=/dev/zero bs=1024 count=8 status=none >zeros");
  run("mkdir t; cp zeros t/1; date >t/2; tar -cf whole.tar t/1 t/2; rm -r t");
  // At the end of t/1, which has nothing but zeros, as an archive's end has.
  run("head -c $((512 + 8192)) whole.tar >begin.tar; head -n -5 whole.sql >begin.sql");
  const tested = async (command: string): Promise<RestoreTestResult> => {
    run(`rm -f dump.*; ${command}`);
    const of = source({ pattern: "dump.*" });
    return testIt(of, await back(of));
  };
  for (const kind of ["sql", "tar"]) {
    const whole = await tested(`(gzip <whole.${kind}; cat zeros) >dump.${kind}.gz`);
    expect(whole.reason).toBeUndefined();
    for (const lost of [
      `(gzip <begin.${kind}; cat zeros) >dump.${kind}.gz`,
      `cp begin.${kind} dump.${kind}`,
      `(gzip <whole.${kind}; cat zeros; date) >dump.${kind}.gz`,
    ])
      expect(await tested(lost), lost).toMatchObject({ result: "failed", checks: [] });
  }
});
