import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { proposeChecks } from "../../../src/cli/source/propose-checks.ts";
import { parseSourceConfig } from "../../../src/config/source-config.ts";
import { findSqliteSandbox } from "../../../src/engines/sqlite/sandbox.ts";
import type { RestoreTestResult } from "../../../src/runs/restore-and-check.ts";
import { seenIn } from "../earlier-tests-in.ts";
import { named, place, run, server, useCheckedCopies, backupOf, SOURCES } from "./checked-copies.ts";

const never = new AbortController().signal;

useCheckedCopies();

const SHOP = `
  create table orders (id int primary key, placed_at timestamptz not null, total numeric check (total is not null), note text);
  create table lines (id int primary key, order_id int not null references orders on delete cascade);
  create table archive (id int) partition by range (id);
  create table archive_1 partition of archive for values from (1) to (1000);
  insert into orders select i, now() - i * interval '1 hour', i, 'n' || i from generate_series(1, 100) i;
  insert into lines select i, i from generate_series(1, 100) i;
  insert into archive select i from generate_series(1, 10) i;
  create function kept() returns trigger language plpgsql as $$ begin raise exception 'kept'; end $$;
  create trigger kept before delete or update or truncate on orders execute function kept();
  create rule silent as on update to orders do instead nothing;
  create view newest as select max(placed_at) as at from orders;
  create materialized view summary as select count(*) as n from orders;
  create function ordered() returns bigint language sql as 'select count(*) from orders';
`;
const checks = [
  { id: "any", query: "select count(*) as n from orders", expect: "n >= 0" },
  { id: "some", query: "select count(*) as n from orders", expect: "n >= 100" },
  { id: "fresh", query: "select at as newest from newest", expect: "age(newest) < 26h" },
  {
    id: "stale",
    query: "select max(placed_at) as newest, count(note) as notes from orders",
    expect: "newest is not null",
  },
  {
    id: "orphans",
    query: "select count(*) as n from lines l left join orders o on o.id = l.order_id where o.id is null",
    expect: "n = 0",
  },
  { id: "by-function", query: "select ordered() as n", expect: "n = 100" },
  { id: "parts", query: "select count(*) as n from archive", expect: "n = 10" },
  { id: "stored", query: "select n from summary", expect: "n = 100" },
  { id: "nothing", query: "select 1 as n", expect: "n = 1" },
];
const controlsOf = (tested: RestoreTestResult) =>
  Object.fromEntries(
    checks.map(({ id }) => {
      const control = named(tested, id).negative_control;
      if (control === undefined) throw new Error(`${id} has no negative control`);
      const { at: _, ...ways } = control;
      return [id, ways];
    }),
  );

test("a check is tried on ruined data in PostgreSQL: the receipt names what each check would not notice, and the result does not change", async () => {
  server.sql("create database shop");
  server.sql(`\\connect shop\n${SHOP}`);
  const tested = await run("shop", checks);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  const [noticed, not_noticed, not_tried] = [[], [], []];
  expect(controlsOf(tested)).toEqual({
    any: { noticed, not_noticed: ["an empty public.orders"], not_tried },
    some: { noticed: ["an empty public.orders"], not_noticed, not_tried },
    fresh: {
      noticed: ["an empty public.orders", "public.orders.placed_at a year older"],
      not_noticed,
      not_tried,
    },
    stale: {
      noticed: ["an empty public.orders"],
      not_noticed: ["public.orders.note null in every row", "public.orders.placed_at a year older"],
      not_tried,
    },
    orphans: { noticed: ["an empty public.orders"], not_noticed: ["an empty public.lines"], not_tried },
    "by-function": { noticed: ["an empty public.orders"], not_noticed, not_tried },
    parts: {
      noticed: ["an empty public.archive"],
      not_noticed,
      not_tried,
    },
    stored: { noticed, not_noticed, not_tried: ["an empty public.summary: it is no table"] },
    nothing: { noticed, not_noticed, not_tried: ["ruined data: the check reads no table"] },
  });

  // A passed test has tried these definitions: their record goes on, whatever the check's place.
  const seen = seenIn(tested.checks);
  const again = await run("shop", checks.slice(0, 2), {}, seen);
  for (const { id } of checks.slice(0, 2))
    expect(named(again, id).negative_control).toEqual(named(tested, id).negative_control);
  const changed = await run("shop", [{ ...checks[0], expect: "n >= 1" }], {}, seen);
  expect(named(changed, "any").negative_control).toMatchObject({ noticed: ["an empty public.orders"] });
});

test("a check is tried on ruined data in SQLite: the same, against triggers, constraints and foreign keys", async () => {
  const file = join(place.dir, "shop.db");
  const sqlite = new DatabaseSync(file);
  sqlite.exec(`
    create table orders (id integer primary key, placed_at text not null, paid datetime, note text check (note is not null));
    create table lines (id integer primary key, order_id integer not null references orders);
    insert into orders select value, '2026-11-0' || value || 'T10:00:00Z', 1795000000 + value, 'n' || value from json_each('[1,2,3,4,5]');
    insert into lines select id, id from orders;
    create trigger kept before delete on orders begin select raise(abort, 'kept'); end;
    create view newest as select max(placed_at) as at from orders;
  `);
  sqlite.close();
  const own = [
    { id: "any", query: "select count(*) as n from orders", expect: "n >= 0" },
    { id: "some", query: "select count(*) as n from orders;", expect: "n = 5" },
    { id: "fresh", query: "select at as newest from newest", expect: "newest matches '2026.*'" },
    {
      id: "paid",
      query: "select max(paid) as paid, count(note) as notes from orders",
      expect: "paid > 1795000000",
    },
    { id: "orphans", query: checks.find(({ id }) => id === "orphans")?.query, expect: "n = 0" },
    { id: "nothing", query: "select 1 as n", expect: "n = 1" },
  ];
  const tested = await run("shop-kv", own);
  expect(tested.reason).toBeUndefined();
  const [noticed, not_noticed, not_tried] = [[], [], []];
  const ways = Object.fromEntries(own.map(({ id }) => [id, named(tested, id).negative_control]));
  expect(ways).toMatchObject({
    any: { noticed, not_noticed: ["an empty orders"], not_tried },
    some: { noticed: ["an empty orders"], not_noticed, not_tried },
    fresh: { noticed: ["an empty orders", "orders.placed_at a year older"], not_noticed, not_tried },
    paid: {
      noticed: ["an empty orders", "orders.paid null in every row", "orders.paid a year older"],
      not_noticed: ["orders.note null in every row"],
      not_tried,
    },
    orphans: { noticed: ["an empty orders"], not_noticed: ["an empty lines"], not_tried },
    nothing: { noticed, not_noticed, not_tried: ["ruined data: the check reads no table"] },
  });

  // What `source add` proposes notices all that is tried; a query without end ends no restore
  // test.
  const source = parseSourceConfig("shop-kv", { ...SOURCES["shop-kv"] }, place.dir);
  const { sourceMetadata } = await backupOf(source);
  const context = { scratchDir: place.scratch, signal: new AbortController().signal };
  const { checks: proposed } = await proposeChecks(source, sourceMetadata, context);
  expect(proposed.map(({ id }) => id).toSorted()).toEqual(["has-lines", "has-orders"]);
  const endless = {
    id: "endless",
    query: `with recursive n(i) as (select 1 union all select i + 1 from n where not exists (select 1 from orders))
      select count(*) as n from n`,
    expect: "n = 1",
  };
  const limited = await run("shop-kv", [...proposed.map((each) => ({ ...each })), endless], {
    limits: { time_s: 12 },
  });
  expect(limited.result).toBe("passed");
  expect(named(limited, "has-orders").negative_control).toMatchObject({
    noticed: ["an empty orders"],
    not_noticed,
    not_tried,
  });
  expect(named(limited, "has-lines").negative_control).toMatchObject({
    noticed: ["an empty lines"],
    not_noticed,
    not_tried,
  });
  expect(named(limited, "endless").negative_control).toMatchObject({
    noticed,
    not_noticed,
    not_tried: ["ruined data: no time was left"],
  });
});

test("data are ruined in SQLite, and the copy is unchanged to the bit, also if the ruin was killed halfway", async () => {
  const file = join(place.dir, "large.db");
  const sqlite = new DatabaseSync(file);
  // More than SQLite's cache holds: a ruin is in the file itself before it is rolled back.
  sqlite.exec(`
    create table large (id integer primary key, v text);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)
      insert into large select i, printf('%.2000c', 'v') from n;
  `);
  sqlite.close();
  const content = readFileSync(file);
  const sandbox = await findSqliteSandbox();
  const restored = await sandbox.restore(Readable.from([content]), {
    scratchDir: place.scratch,
    signal: never,
  });
  const files = async () => {
    const child = await restored.startCommand?.(["/bin/sh", "-c", "sha256sum restored.sqlite*"], never);
    if (child === undefined) throw new Error("no command can look at the copy");
    const lines = await text(child.stdout);
    await child.exited;
    return lines;
  };
  const before = `${createHash("sha256").update(content).digest("hex")}  restored.sqlite\n`;
  try {
    expect(await files()).toBe(before);
    const limits = { timeout_s: 60, signal: never };
    const ruined = await restored.ruin?.("select count(v) as n from large", {
      ...limits,
      budget_ms: 60_000,
    });
    expect(ruined).toEqual([
      { how: "an empty large", outcome: { kind: "rows", rows: ['{"n":0}'] } },
      { how: "large.v null in every row", outcome: { kind: "rows", rows: ['{"n":0}'] } },
    ]);
    expect(await files()).toBe(before);

    // Never ends once every v is null, so the process is killed with that change in the file.
    const endless = `with recursive n(i) as (select 1 union all select i + 1 from n
      where exists (select 1 from large) and not exists (select 1 from large where v is not null))
      select count(*) as n from n`;
    const killed = await restored.ruin?.(endless, { ...limits, budget_ms: 5_000 });
    expect(killed).toEqual([
      { how: "ruined data", outcome: { kind: "not_tried", reason: "no time was left" } },
    ]);
    expect(await files()).toBe(before);
    expect(await restored.query("select count(v) as n from large", limits)).toEqual({
      kind: "rows",
      rows: ['{"n":4000}'],
    });
  } finally {
    await restored.close();
  }
});

test("a copy that breaks while it is ruined does not change the result", async () => {
  const tested = await run("shop", [
    {
      id: "ends",
      query:
        "select count(*) as n, case when count(*) < 100 then pg_terminate_backend(pg_backend_pid()) end as gone from orders",
      expect: "n = 100",
    },
  ]);
  expect(tested.result).toBe("passed");
  expect(named(tested, "ends").negative_control).toMatchObject({
    noticed: [],
    not_tried: [expect.stringContaining("could no longer be used")],
  });
  const failing = await run("shop", [
    { id: "wrong", query: "select count(*) as n from orders", expect: "n = 1" },
  ]);
  expect(named(failing, "wrong")).not.toHaveProperty("negative_control");
});
