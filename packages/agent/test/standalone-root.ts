import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach } from "vitest";
import { type Finished, jsonOf, runCli } from "./service/cli.ts";

export let base: string;
export let root: string;

/** Of a file whose tests each have a place for a standalone root and its sources. */
export function useStandaloneRoot(): void {
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), "attestore-standalone-"));
    root = join(base, "root");
  });
  afterEach(() => rmSync(base, { recursive: true }));
}

export const cli = (...args: string[]): Promise<Finished> =>
  runCli(args, { env: { ATTESTORE_HOME: root }, cwd: base });

export const json = <T = Record<string, unknown>>(args: string[], code = 0, env = {}): Promise<T> =>
  jsonOf<T>(runCli([...args, "--json"], { env: { ATTESTORE_HOME: root, ...env }, cwd: base }), code);

export function writeOrders(rows: number): void {
  rmSync(join(base, "orders.db"), { force: true });
  const database = new DatabaseSync(join(base, "orders.db"));
  database.exec("create table orders (id integer primary key, cents integer not null)");
  const insert = database.prepare("insert into orders (cents) values (?)");
  for (let row = 0; row < rows; row++) insert.run(row);
  database.close();
}

export function declare(): void {
  const file = join(root, "config.yaml");
  writeFileSync(
    file,
    `${readFileSync(file, "utf8")}
sources:
  orders:
    engine: sqlite
    path: ${join(base, "orders.db")}
    checks: [{ id: rows, query: "select count(*) as n from orders", expect: "n >= 100" }]
`,
  );
}
