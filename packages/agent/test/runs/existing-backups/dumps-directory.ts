import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import type { SourceConfigOf } from "../../../src/config/source-config.ts";
import type { MadeBackup } from "../../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "../back-and-test.ts";
import { dumpsIn } from "../dumps-in.ts";
import { seenIn } from "../earlier-tests-in.ts";
import { makeTestPlace, type TestPlace } from "../scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "../source-postgres.ts";

export let place: TestPlace;
/** With the tables "orders", of 1,000 rows, and "tags". */
export let postgres: SourcePostgres;
/** Empty at the beginning of each test. */
export let directory: string;
let made = 0;

/** Of a file whose tests back up and test what others left in `directory`. */
export function useDumpsDirectory(): void {
  beforeAll(async () => {
    place = await makeTestPlace();
    postgres = await startSourcePostgres(place.dir);
    postgres.sql(`create role app; create table orders (id int primary key, note text); insert into orders select i, 'secret ' || i from generate_series(1, 1000) i;
      alter table orders owner to app; grant select on orders to app; create table tags (t text); insert into tags values ('a\\tb'), (E'\\\\restrict x');`);
  });

  afterAll(async () => {
    await postgres?.close();
    await place?.remove();
  });

  beforeEach(() => {
    directory = join(place.dir, `dumps-${(made += 1)}`);
    mkdirSync(directory);
  });
}

/** A command of the shell in `directory`, with the environment that finds `postgres`. */
export const run = (command: string, env: Record<string, string> = {}, cwd = directory): Buffer =>
  execFileSync("sh", ["-euc", command], {
    env: { ...process.env, ...postgres.environment, ...env },
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });

export const source = (more: Partial<SourceConfigOf<"dumps">> = {}): SourceConfigOf<"dumps"> =>
  dumpsIn(directory, more);

export const back = (of: SourceConfigOf<"dumps"> | SourceConfigOf<"restic">): Promise<MadeBackup> =>
  backUp(place, of);

export async function testIt(
  of: SourceConfigOf<"dumps"> | SourceConfigOf<"restic">,
  backup: MadeBackup,
  passed?: RestoreTestResult,
): Promise<RestoreTestResult> {
  const tested = await testBackup(place, of, backup, {
    seen: passed === undefined ? undefined : seenIn(passed.checks, [], passed.unnamed),
  });
  expect(readdirSync(place.scratch)).toEqual([]);
  return tested;
}

export const failedOf = ({ checks }: RestoreTestResult) =>
  checks.filter(({ result }) => result === "failed").map(({ id }) => id);
export const controlOf = (tested: RestoreTestResult, of: string) =>
  tested.checks.find(({ id }) => id === of)?.negative_control;
export const constraintsOf = ({ checks }: RestoreTestResult) =>
  checks.find(({ id }) => id === "inferred:foreign_keys");
export const kindsOf = (tested: RestoreTestResult | undefined) =>
  tested?.checks.find(({ id }) => id === "inferred:kinds");
