import type { CheckOutcome } from "@attestore/proof";
import { type QueryOutcome, rowCountCheck, rowFloorCheck, tablesPresentCheck } from "../checks/index.ts";
import type { ForeignMetadata, LastPassed } from "./engine.ts";
import { tablesOfMetadata } from "./tables-of-metadata.ts";

export interface TablesToCheck {
  readonly metadata: ForeignMetadata;
  readonly lastPassed: LastPassed | null;
  /** Which database, where a backup has several. */
  readonly of?: string;
  /** Those that are there, by the names that the metadata use. */
  readonly tables: readonly string[];
  /** Whether a table gives what it holds when asked for one row. */
  readOne(table: string): Promise<boolean>;
  count(table: string): Promise<QueryOutcome>;
  countQuery(table: string): string;
}

/**
 * That every table which the backup names is there and can be read, and that those whose rows were counted at backup time, in
 * the snapshot that was dumped, have as many, and none has lost half of its rows since a test last passed. Names of the metadata are only compared: they never get into a query.
 */
export async function checkTables(check: TablesToCheck): Promise<CheckOutcome[]> {
  const { metadata, lastPassed, tables } = check;
  const expected = tablesOfMetadata(metadata);
  const present = new Set(tables);
  const started = performance.now();
  const readable: string[] = [];
  for (const { name } of expected) {
    if (present.has(name) && (await check.readOne(name))) readable.push(name);
  }
  const there = tablesPresentCheck({
    expected: expected.map(({ name }) => name),
    present: readable,
    ...(check.of === undefined ? {} : { of: check.of }),
    duration_ms: performance.now() - started,
  });
  const outcomes = there === null ? [] : [there];
  for (const { name: table, rows, atLeast } of expected) {
    const isCounted = rows !== null || atLeast !== null;
    const floor = higher(atLeast, floorOf(table, lastPassed, isCounted ? MANY : 2));
    if ((rows ?? floor) === null || !readable.includes(table)) continue;
    const begun = performance.now();
    const outcome = await check.count(table);
    const counted = {
      table,
      query: check.countQuery(table),
      outcome,
      duration_ms: performance.now() - begun,
    };
    if (rows !== null)
      outcomes.push(rowCountCheck({ ...counted, rows, ...(floor === null ? {} : { floor }) }));
    else if (floor !== null) outcomes.push(rowFloorCheck({ ...counted, floor }));
  }
  return outcomes;
}

function higher(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}

/** Below that, rows come and go: a queue may well be empty. */
const MANY = 1_000;

/**
 * A table must have half of what it had when last a test passed, if that was `least` rows or more. That a dump has what was
 * counted with it says nothing of a table that somebody emptied before.
 */
function floorOf(table: string, lastPassed: LastPassed | null, least: number): bigint | null {
  const last = lastPassed?.checks.find(({ id }) => id === `inferred:rows:${table}`)?.observed["rows"];
  return typeof last === "number" && Number.isSafeInteger(last) && last >= least ? BigInt(last) / 2n : null;
}
