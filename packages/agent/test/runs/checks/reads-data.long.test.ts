import { expect, test } from "vitest";
import { parseSourceConfig } from "../../../src/config/source-config.ts";
import { backUp } from "../back-and-test.ts";
import { named, place, run, script, server, useCheckedCopies } from "./checked-copies.ts";

const never = new AbortController().signal;

useCheckedCopies();

test("age() and matches read values as each database prints them", async () => {
  const tested = await run("orders", [
    {
      id: "fresh",
      query: "select max(placed_at) as newest from orders",
      expect: "age(newest) between 59m and 26h",
    },
    {
      id: "plain",
      query: "select max(placed_at at time zone 'UTC') as newest from orders",
      expect: "age(newest) < 26h or newest is not null",
    },
    {
      id: "epoch",
      query: "select extract(epoch from max(placed_at)) as at from orders",
      expect: "age(at) < 26h",
    },
    { id: "region", query: "select min(region) as r from orders", expect: "r matches 'eu-\\d+'" },
  ]);
  expect(Object.fromEntries(tested.checks.map(({ id, result }) => [id, result]))).toMatchObject({
    fresh: "passed",
    plain: "failed",
    epoch: "passed",
    region: "passed",
  });
  expect(named(tested, "plain").observed["error"]).toMatch(/has no time zone/);
});

const one = { id: "one", query: "select 1 as n", expect: "n = 1" };

test.each([
  ["empty", { id: "tables", query: "select count(*) as n from pg_class", expect: "n > 0" }],
  ["empty-kv", { id: "tables", query: "select count(*) as n from sqlite_schema", expect: "n = 0" }],
] as const)(
  "a check that reads no data is no pass: a constant, the catalogue, and a command that nobody can look into, in %s",
  async (name, tables) => {
    const command = await script("yes", `#!/bin/sh\necho '{"ok":true}'\n`);
    const tested = await run(name, [one, tables, { id: "command", command, expect: "ok" }]);
    expect(tested).toMatchObject({ result: "failed", reason: "no check read any data" });
    expect(tested.checks.map(({ id, result }) => [id, result])).toEqual([
      ["one", "passed"],
      ["tables", "passed"],
      ["command", "passed"],
    ]);
  },
);

test("a table counts as data, also through a function, a view and parallel workers", async () => {
  server.sql(`
    create table large as select i from generate_series(1, 200000) i;
    create index on large (i);
    analyze large;
    create view seen as select * from large;
    create function counted() returns bigint language plpgsql as 'begin return (select count(*) from large); end';
    alter database postgres set max_parallel_workers_per_gather = 2;
  `);
  // Inferred checks would use the time too: only the configured ones run here.
  const { RestoredPostgresql } = await import("../../../src/engines/postgresql/restored.ts");
  const { programsIn } = await import("../../../src/processes/run-program.ts");
  const { findInstallations } = await import("../../../src/engines/postgresql/connection/installations.ts");
  const [installation] = await findInstallations(["postgres", "psql"]);
  if (installation === undefined) throw new Error("no PostgreSQL (run tools/setup test)");
  const restored = new RestoredPostgresql(
    {
      runtime: { kind: "process", engine: "postgresql", engine_version: installation.version },
      run: programsIn(installation.bin, {
        ...server.environment,
        PGOPTIONS: "",
      }),
      files: null,
      errors: [],
      hasRunFull: () => false,
      hasDied: () => false,
      close: () => Promise.resolve(),
    },
    "postgres",
  );
  const parallel =
    "set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0; set min_parallel_index_scan_size = 0; set parallel_leader_participation = off";
  for (const setting of parallel.split("; ")) server.sql(`alter database postgres ${setting}`);
  for (const query of [
    "select count(*) as n from large",
    "select count(*) as n from large where i > 5",
    "select i as n from large where i = 7",
    "select count(*) as n from seen",
    "select counted() as n",
  ])
    expect(await restored.query(query, { timeout_s: 60, signal: never }), query).toEqual({
      kind: "rows",
      rows: [expect.any(String)],
    });
  for (const query of ["select 1 as n", "select count(*) as n from pg_tables", "select 1 as n where false"])
    expect(await restored.query(query, { timeout_s: 60, signal: never }), query).toMatchObject({
      readsNoData: true,
    });
});

test("a copy that took the database's name is another database", async () => {
  server.sql(`create database place; create database staging template place`);
  process.env["TEST_PLACE_URL"] = server.url("attestore", "", "place");
  const source = parseSourceConfig(
    "place",
    { engine: "postgresql", connection: "env:TEST_PLACE_URL" },
    place.dir,
  );
  const identity = async () => {
    const dump = await backUp(place, source);
    return dump.origin.identity;
  };
  const before = await identity();
  expect(await identity()).toEqual(before);
  server.sql("alter database place rename to former; alter database staging rename to place");
  const after = await identity();
  expect(after).not.toEqual(before);
  expect(after).toMatchObject({ database: "place", system_identifier: before["system_identifier"] });
});
