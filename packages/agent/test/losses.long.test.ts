import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MAX_RECEIPT_BYTES } from "@attestore/contract";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Finished, jsonOf, runCli } from "./service/cli.ts";

/** Data that were lost at the source, against a configuration that nobody tuned. */

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "attestore-losses-"));
});
afterEach(() => rmSync(base, { recursive: true }));

const cli = (...args: string[]): Promise<Finished> =>
  runCli(args, { env: { ATTESTORE_HOME: join(base, "root") }, cwd: base });

const json = <T = Record<string, unknown>>(args: string[], code = 0): Promise<T> =>
  jsonOf<T>(cli(...args, "--json"), code);

interface Tested {
  readonly reason: string | null;
  readonly backup_id: string;
  readonly checks: readonly { id: string; result: string; observed: Record<string, unknown> }[];
}

const sql = (text: string): void => {
  const database = new DatabaseSync(join(base, "shop.db"));
  database.exec(text);
  database.close();
};

async function tested(code: 0 | 1): Promise<Tested> {
  await json(["backup"]);
  return json<Tested>(["restore-test"], code);
}

async function makeShop(more = ""): Promise<void> {
  await json(["init", "--standalone"]);
  const file = join(base, "root", "config.yaml");
  writeFileSync(
    file,
    `${readFileSync(file, "utf8")}\nsources:\n  shop: { engine: sqlite, path: ../shop.db${more} }\n`,
  );
  sql(`create table orders (id integer primary key);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000) insert into orders select i from n;
    create table lines (id integer primary key);
    insert into lines select a.id * 3 + b.id from orders a, orders b where b.id <= 3;
    create table settings (name text);
    insert into settings values ('vat');`);
}

it("a table that was dropped, renamed, emptied or cut in half at the source fails the next restore test until somebody accepts it", async () => {
  await makeShop();
  let passed = await tested(0);
  const fails = async (damage: string, table: string, text: string): Promise<void> => {
    sql(damage);
    const { reason } = await tested(1);
    expect(reason).toContain(text);
    expect(reason).toContain(passed.backup_id);
    expect(reason).toContain(`attestore accept shop ${table} --because REASON`);
  };
  await fails("alter table settings rename to options", "settings", "settings (1 row)");
  // It stays gone: a test that failed is no new measure.
  const again = await tested(1);
  expect(again.reason).toContain("settings");
  expect(again.checks).toContainEqual(
    expect.objectContaining({
      id: "inferred:kept",
      result: "failed",
      observed: expect.objectContaining({ tables: 3, gone: 1, gone_tables: "settings" }),
    }),
  );

  expect(await json(["accept", "shop"], 1)).toEqual({
    source: "shop",
    lost: [{ table: "settings", rows: null, had: 1 }],
    complete: true,
  });
  expect(await json(["accept", "shop", "settings"], 2)).toMatchObject({ error: "usage" });
  expect(await json(["accept", "shop", "seting", "--because", "x"], 2)).toMatchObject({
    message: expect.stringContaining('did you mean "settings"?'),
  });
  const accepted = await json(["accept", "shop", "settings", "--because", "renamed in 4.2"]);
  expect(accepted).toMatchObject({ source: "shop", tables: ["settings"], because: "renamed in 4.2" });
  passed = await json<Tested>(["restore-test"], 0);
  // Whoever reads the chain sees who accepted what, and why.
  const events = join(base, "root", "events");
  const [file = ""] = readdirSync(events).filter((name) => name.includes("evt_"));
  const { envelope } = JSON.parse(readFileSync(join(events, file), "utf8")) as {
    envelope: { payload: string };
  };
  expect(JSON.parse(Buffer.from(envelope.payload, "base64").toString())).toMatchObject({
    predicate: {
      kind: "change_accepted",
      detail: { change: "tables", tables: ["settings"], because: "renamed in 4.2", by: accepted["by"] },
    },
  });
  expect(await json(["receipts", "verify"])).toMatchObject({});

  await fails("delete from orders where id <= 500", "orders", "orders has 500 rows and had 1000");
  await fails("delete from orders", "orders", "orders is empty and had 1000 in the restore test of 20");
  await fails("drop table lines", "lines", "lines (3000 rows)");
});

it("gradual losses are measured against the best of the last 30 days", async () => {
  await makeShop();
  sql("create table carts (id)");
  await json(["backup"]);
  const first = await cli("restore-test");
  expect(first.stdout).toContain("empty: 1 table (carts)");
  expect((await json<{ sources: unknown[] }>(["status"])).sources).toMatchObject([
    { last_test: { not_counted: 0, not_counted_tables: null, empty: 1, empty_tables: "carts" } },
  ]);
  sql("delete from orders where id > 550");
  await tested(0);
  sql("delete from orders where id > 303");
  expect((await tested(1)).reason).toContain("orders has 303 rows and had 1000");
});

it("another program's dump without its indexes fails the next restore test until somebody accepts it", async () => {
  await makeShop();
  const file = join(base, "root", "config.yaml");
  const config = readFileSync(file, "utf8");
  const dumps = "shop: { engine: dumps, path: .., pattern: shop.db, min_age_s: 0, max_age_s: any }";
  writeFileSync(file, config.replace(/shop: \{.*\}/, dumps));
  sql("create index by_id on lines (id); create index by_name on settings (name)");
  await tested(0);
  sql("drop index by_id; drop index by_name");
  const lost = await tested(1);
  expect(lost.checks.filter(({ result }) => result === "failed").map(({ id }) => id)).toEqual([
    "inferred:kinds",
  ]);
  expect(lost.reason).toContain("attestore accept shop . --because REASON");
  expect(await json(["accept", "shop"], 1)).toMatchObject({ lost: [{ table: ".", rows: 0 }] });
  // Accepting a table says nothing of them, and accepting them nothing of tables.
  await json(["accept", "shop", "lines", "--because", "archived"]);
  expect((await tested(1)).reason).toContain("inferred:kinds");
  await json(["accept", "shop", ".", "--because", "not needed"]);
  await tested(0);
  sql("delete from orders where id > 400");
  expect((await tested(1)).reason).toContain("orders has 400 rows and had 1000");
});

it("a trigger dropped among several passes, and every summary says so until the next backup", async () => {
  await makeShop();
  const triggers = Array.from(
    { length: 4 },
    (_, n) => `create trigger t${n} after insert on lines begin select ${n}; end;`,
  );
  sql(triggers.join(""));
  await tested(0);
  sql("drop trigger t2");
  await json(["backup"]);
  for (const _ of ["now", "and again"]) {
    const { stdout, code } = await cli("restore-test");
    expect(code, stdout).toBe(0);
    expect(stdout).toContain("fewer objects than in the backup before: triggers 3 of 4.");
    expect((await cli("status")).stdout).toContain("fewer than before: triggers 3 of 4");
  }
  expect((await json<{ sources: unknown[] }>(["status"])).sources).toMatchObject([
    { verdict: "proven", last_test: { result: "passed", fewer_objects: "triggers 3 of 4", suspicious: [] } },
  ]);
  expect((await tested(0)).checks.find(({ id }) => id === "inferred:kinds")?.observed).toEqual({
    objects: 3,
    triggers: 3,
  });
});

it("tables beyond the 300 that a receipt names are missed by name too, and a receipt has room for the loss of all", async () => {
  await makeShop();
  const names = Array.from({ length: 320 }, (_, index) => `${"long_name_".repeat(10)}${index}`);
  sql(
    `begin; ${names.map((name) => `create table ${name} (a); insert into ${name} values (1);`).join("")} commit`,
  );
  const { checks } = await tested(0);
  const named = new Set(checks.map(({ id }) => id));
  const [dropped, emptied] = names.filter((name) => !named.has(`inferred:rows:${name}`));
  sql(`drop table ${dropped}; delete from ${emptied}`);
  const failed = await tested(1);
  expect(failed.reason).toContain(`… (1 row). If that is right: attestore accept shop ${dropped} --because`);
  expect(failed.checks.find(({ id }) => id === `inferred:rows:${emptied}`)?.observed["error"]).toContain(
    " is empty and had 1 in the restore test of ",
  );
  // The newest backup's receipt has no room for its name: the restore test's has.
  expect((await json<{ lost: unknown[] }>(["accept", "shop"], 1)).lost).toEqual([
    { table: dropped, rows: null, had: 1 },
    { table: emptied, rows: 0, had: 1 },
  ]);
  await json(["accept", "shop", dropped ?? "", emptied ?? "", "--because", "no longer used"]);
  await json(["restore-test"]);

  sql(
    names
      .filter((name) => name !== dropped)
      .map((name) => `delete from ${name}`)
      .join(";"),
  );
  const all = await json<Tested & { receipt_file: string }>(["backup"]).then(() =>
    json<Tested & { receipt_file: string }>(["restore-test"], 1),
  );
  expect(
    all.checks.filter(({ id, result }) => id.startsWith("inferred:rows:") && result === "failed").length,
  ).toBeGreaterThan(300);
  expect(statSync(all.receipt_file).size).toBeLessThan(MAX_RECEIPT_BYTES);
});
