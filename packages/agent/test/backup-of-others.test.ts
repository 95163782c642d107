import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Finished, runCli } from "./service/cli.ts";

let base: string;
let root: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "attestore-others-"));
  root = join(base, "root");
});
afterEach(() => rmSync(base, { recursive: true }));

const cli = (...args: string[]): Promise<Finished> =>
  runCli(args, { env: { ATTESTORE_HOME: root }, cwd: base });

it("attestore backup says which dump of another program it refers to, and when that was written", async () => {
  const dumps = join(base, "dumps");
  mkdirSync(dumps);
  const database = new DatabaseSync(join(dumps, "orders.sqlite"));
  database.exec("create table orders (id)");
  database.close();
  const written = Math.floor(Date.now() / 1000) - 7_200;
  utimesSync(join(dumps, "orders.sqlite"), written, written);
  await cli("init", "--standalone");
  const file = join(root, "config.yaml");
  writeFileSync(file, `${readFileSync(file, "utf8")}sources:\n  legacy: { engine: dumps, path: ${dumps} }\n`);
  const { code, stdout, stderr } = await cli("backup");
  expect(code, stderr).toBe(0);
  expect(stdout + stderr).toContain(
    `It refers to orders.sqlite of ${new Date(written * 1000).toISOString()}, 8.2 kB`,
  );
  const { stdout: json } = await cli("backup", "--json");
  expect(JSON.parse(json)).toMatchObject({ original: { kind: "file", name: "orders.sqlite" } });
});
