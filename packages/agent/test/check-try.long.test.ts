import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Finished, jsonOf, runCli } from "./service/cli.ts";

let base: string;
let root: string;

const cli = (...args: string[]): Promise<Finished> =>
  runCli(args, { env: { ATTESTORE_HOME: root }, cwd: base });

const json = <T = Record<string, unknown>>(args: string[], code = 0): Promise<T> =>
  jsonOf<T>(cli(...args, "--json"), code);

function write(rows: number): void {
  rmSync(join(base, "orders.db"), { force: true });
  const database = new DatabaseSync(join(base, "orders.db"));
  database.exec("create table orders (id integer primary key)");
  const insert = database.prepare("insert into orders values (?)");
  for (let row = 0; row < rows; row++) insert.run(row);
  database.close();
}

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-try-"));
  root = join(base, "root");
  await json(["init", "--standalone"]);
  const file = join(root, "config.yaml");
  writeFileSync(
    file,
    `${readFileSync(file, "utf8")}sources:
  orders:
    engine: sqlite
    path: ${join(base, "orders.db")}
    checks:
      - { id: rows, query: "select count(*) as n from orders", expect: "n >= 100" }
      - { id: many, query: "select count(*) as n from orders", expect: "n >= 1000" }
`,
  );
  write(200);
  await json(["backup"]);
  // The live database has nothing left: whatever holds from here on holds of the backup.
  write(0);
});
afterAll(() => rmSync(base, { recursive: true }));

const receipts = (): string[] => readdirSync(join(root, "receipts")).filter((name) => name.endsWith(".json"));

it("check try runs on a restored copy of a stored backup, and signs nothing", async () => {
  const all = await json<{ checks: { id: string }[] }>(["check", "try"], 1);
  expect(all.checks.map(({ id }) => id)).toEqual(
    expect.arrayContaining(["rows", "many", "inferred:integrity"]),
  );
  expect(await json(["check", "try", "orders", "rows"])).toMatchObject({
    held: true,
    checks: [{ id: "rows", observed: { n: 200 }, result: "passed" }],
  });
  expect(await json(["check", "try", "orders", "many"], 1)).toMatchObject({ held: false });
  expect(await json(["check", "try", "orders", "inferred:integrity"])).toMatchObject({ held: true });
  expect(receipts()).toEqual(["00000001-backup.json"]);
  expect(readdirSync(join(root, "receipts/waiting"))).toEqual([]);
  expect(readdirSync(join(root, "scratch"))).toEqual([]);
  expect(readdirSync(join(root, "events")).filter((name) => name.endsWith(".json"))).toEqual([]);
});

it("check try runs a check that is not written down yet, or another expectation of one that is", async () => {
  const query = ["--query", "select max(id) as last from orders"];
  expect(await json(["check", "try", "orders", ...query, "--expect", "last = 199"])).toMatchObject({
    checks: [{ id: "tried", observed: { last: 199 } }],
  });
  expect(await json(["check", "try", "orders", "many", "--expect", "n > 150"])).toMatchObject({ held: true });
  // A check is also tried on ruined data, as a restore test would do.
  expect(await json(["check", "try", "orders", "rows"])).toMatchObject({
    checks: [{ id: "rows", result: "passed", negative_control: { not_noticed: [] } }],
  });
  const toothless = ["--query", "select count(*) as n from orders", "--expect", "n >= 0"];
  expect((await cli("check", "try", "orders", ...toothless)).stdout).toContain(
    "! would not notice an empty orders",
  );
  const shown = await cli("check", "try", "orders", ...query, "--expect", "last = 1");
  expect(shown.code).toBe(1);
  expect(shown.stdout).toContain('✗ tried  last = 1  {"last":199');
  expect(await json(["check", "try", "orders", ...query], 2)).toMatchObject({ error: "usage" });
  expect(await json(["check", "try", "orders", ...query, "--expect", "last ~ 1"], 2)).toMatchObject({
    error: "usage",
  });
  expect(await json(["check", "try", "orders", "row"], 2)).toMatchObject({
    message: expect.stringContaining('did you mean "rows"?'),
  });
});
