import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach } from "vitest";
import { type CliOptions, type Finished, jsonOf, runCli } from "./service/cli.ts";
import { attachedRoot, type TestRoot } from "./service/test-root.ts";
import { TestService } from "./service/test-service.ts";

export let service: TestService;
export let root: TestRoot;

const SOURCES = `  invoices:
    engine: sqlite
    path: invoices.db
    checks:
      - { id: rows, query: "select count(*) as n from invoices", expect: "n >= 100" }
  papers:
    engine: files
    path: papers
`;

/**
 * For a file of tests: a root for each of them, attached to a service, with a SQLite database and a
 * directory as its sources.
 */
export function useInvoicesAndPapers(): void {
  beforeEach(async () => {
    service = await TestService.start();
    root = await attachedRoot(service, SOURCES);
    writeInvoices(200);
    mkdirSync(at("papers"));
    writeFileSync(at("papers/one.txt"), "one\n");
  });
  afterEach(async () => {
    root.remove();
    await service.stop();
  });
}

export const at = (...path: string[]): string => join(root.layout.root, ...path);

export function writeInvoices(rows: number): void {
  rmSync(at("invoices.db"), { force: true });
  const database = new DatabaseSync(at("invoices.db"));
  database.exec("create table invoices (id integer primary key, cents integer not null)");
  const insert = database.prepare("insert into invoices (cents) values (?)");
  for (let row = 0; row < rows; row++) insert.run(row * 7);
  database.close();
}

export const cli = (args: string[], options: CliOptions = {}): Promise<Finished> =>
  runCli(args, { ...options, env: { ATTESTORE_HOME: root.layout.root, ...options.env } });

export const json = <T = Record<string, unknown>>(
  args: string[],
  code = 0,
  options: CliOptions = {},
): Promise<T> => jsonOf<T>(cli([...args, "--json"], options), code);
