import { readdirSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect } from "vitest";
import type { EarlierTests } from "../../../src/checks/index.ts";
import { parseSourceConfig, type SourceConfig } from "../../../src/config/source-config.ts";
import type { RestoreTestResult } from "../../../src/runs/restore-and-check.ts";
import type { MadeBackup } from "../../../src/runs/write-encrypted-dump.ts";
import { backUp, testBackup } from "../back-and-test.ts";
import { makeTestPlace, type TestPlace } from "../scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "../source-postgres.ts";

/** Backups of small sources, restored and checked as config.yaml says. */
export const SECRET = `ca"nary 'of\t42\\ bytes that nobody knows ü`;

export let place: TestPlace;
export let server: SourcePostgres;
let scripts: string;

/** Of a file whose tests check what was restored. */
export function useCheckedCopies(): void {
  beforeAll(async () => {
    place = await makeTestPlace();
    server = await startSourcePostgres(place.dir);
    scripts = join(place.dir, "scripts");
    await mkdir(scripts, { mode: 0o755 });
    await chmod(scripts, 0o755);
    await writeFile(join(place.dir, "canary"), `${SECRET}\nnot this line\n`);
    process.env["TEST_CANARY"] = SECRET;
    process.env["TEST_SHORT_CANARY"] = "too short";
    server.sql(`
      create table orders (id int primary key, placed_at timestamptz not null, region text);
      insert into orders select i, now() - i * interval '1 hour', 'eu-' || i from generate_series(1, 100) i;
      create table canary (token text, bytes bytea);
      insert into canary values (E'${SECRET.replaceAll("\\", "\\\\").replaceAll("'", "''")}', convert_to(E'${SECRET.replaceAll("\\", "\\\\").replaceAll("'", "''")}', 'UTF8'));
      create database empty;
    `);
    const sqlite = new DatabaseSync(join(place.dir, "kv.db"));
    sqlite.exec(
      "create table kv (k integer primary key, v text); insert into kv values (1, 'one'), (2, 'two');",
    );
    sqlite.close();
    new DatabaseSync(join(place.dir, "empty.db")).close();
    await mkdir(join(place.dir, "tree"));
    await writeFile(join(place.dir, "tree", "file"), "content");
  });

  afterAll(async () => {
    delete process.env["TEST_CANARY"];
    delete process.env["TEST_SHORT_CANARY"];
    await server?.close();
    await place?.remove();
  });
}

export const SOURCES: Readonly<Record<string, Record<string, unknown>>> = {
  orders: { engine: "postgresql", connection: "env:TEST_SOURCE_URL" },
  empty: { engine: "postgresql", connection: "env:TEST_EMPTY_URL" },
  kv: { engine: "sqlite", path: "kv.db" },
  "empty-kv": { engine: "sqlite", path: "empty.db" },
  tree: { engine: "files", path: "tree" },
  "shop-kv": { engine: "sqlite", path: "shop.db" },
  shop: { engine: "postgresql", connection: "env:TEST_SHOP_URL" },
};

/** A program that anybody may run. */
export async function script(name: string, text: string): Promise<string> {
  const path = join(scripts, name);
  await writeFile(path, text);
  await chmod(path, 0o755);
  return path;
}

const backups = new Map<string, Promise<MadeBackup>>();

export function backupOf(source: SourceConfig): Promise<MadeBackup> {
  const made = backups.get(source.slug) ?? backUp(place, source);
  backups.set(source.slug, made);
  return made;
}

export async function run(
  name: string,
  checks: readonly Record<string, unknown>[],
  more: Record<string, unknown> = {},
  seen?: EarlierTests,
): Promise<RestoreTestResult> {
  process.env["TEST_EMPTY_URL"] = server.url("attestore", "", "empty");
  process.env["TEST_SHOP_URL"] = server.url("attestore", "", "shop");
  const source: SourceConfig = parseSourceConfig(name, { ...SOURCES[name], ...more, checks }, place.dir);
  const backup = await backupOf(source);
  const tested = await testBackup(place, source, backup, { seen });
  expect(readdirSync(place.scratch)).toEqual([]);
  return tested;
}

export const named = (tested: RestoreTestResult, id: string) => {
  const check = tested.checks.find((each) => each.id === id);
  if (check === undefined) throw new Error(`no check ${id}`);
  return check;
};
