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
 * the snapshot that was dumped, have as many. Names of the metadata are only compared: they never get into a query.
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
    const floor = rows === null ? (atLeast ?? floorOf(table, lastPassed)) : null;
    if ((rows ?? floor) === null || !readable.includes(table)) continue;
    const begun = performance.now();
    const outcome = await check.count(table);
    const counted = {
      table,
      query: check.countQuery(table),
      outcome,
      duration_ms: performance.now() - begun,
    };
    if (rows !== null) outcomes.push(rowCountCheck({ ...counted, rows }));
    else if (floor !== null) outcomes.push(rowFloorCheck({ ...counted, floor }));
  }
  return outcomes;
}

/** A table that was too large to be counted with the backup must have half of what it had when last it passed. */
function floorOf(table: string, lastPassed: LastPassed | null): bigint | null {
  const last = lastPassed?.checks.find(({ id }) => id === `inferred:rows:${table}`)?.observed["rows"];
  return typeof last === "number" && Number.isSafeInteger(last) && last > 1 ? BigInt(last) / 2n : null;
}
