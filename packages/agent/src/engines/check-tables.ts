import type { CheckOutcome } from "@attestore/proof";
import {
  lossText,
  type QueryOutcome,
  restCheck,
  rowCountCheck,
  rowFloorCheck,
  type EarlierTests,
  tablesPresentCheck,
} from "../checks/index.ts";
import type { InferredContext } from "./engine.ts";
import { countEach, COUNTING_S, restDigest } from "./row-counts.ts";
import { restOfMetadata, tableCountOf, tablesOfMetadata } from "./tables-of-metadata.ts";

export interface TablesToCheck extends Omit<InferredContext, "signal"> {
  /** The database, if a backup has several. */
  readonly of?: string;
  /**
   * Returns the name of a table without its database: the name under which it was counted. If
   * absent, both names are the same.
   */
  plainName?(table: string): string;
  /** The restored tables, by the names that the metadata use. */
  readonly tables: readonly string[];
  /**
   * Restored tables that this host cannot read because it lacks something. They are named, and not
   * compared.
   */
  readonly unreadable?: ReadonlySet<string>;
  /** Whether one row of the table can be read. */
  readOne(table: string): Promise<boolean>;
  /** Without `seconds`, counting may take as long as it needs. */
  count(table: string, seconds?: number): Promise<QueryOutcome>;
  countQuery(table: string): string;
}

/**
 * Checks three things: every table that the backup names is there and can be read; tables that were
 * counted at backup time have as many rows; and none has lost more rows than `EarlierTests` allows.
 * Tables that the metadata have no room for are compared by one digest of all their counts. Names
 * from the metadata are only compared. They never become part of a query.
 */
export async function checkTables(check: TablesToCheck): Promise<CheckOutcome[]> {
  const { metadata, seen, tables } = check;
  const expected = tablesOfMetadata(metadata);
  const present = new Set(tables);
  const started = performance.now();
  const readable = new Set<string>();
  const isUnreadable = (name: string): boolean => check.unreadable?.has(name) === true;
  const notReadHere = expected
    .map(({ name }) => name)
    .filter((name) => present.has(name) && isUnreadable(name));
  for (const { name } of expected) {
    if (present.has(name) && !isUnreadable(name) && (await check.readOne(name))) readable.add(name);
  }
  const read_ms = performance.now() - started;
  const outcomes: CheckOutcome[] = [];
  const uncounted: string[] = [];
  const empty: string[] = [];
  for (const { name: table, rows, atLeast } of expected) {
    if (isUnreadable(table)) continue;
    const known = seen?.floorOf(table) ?? null;
    const floor = higher(atLeast, known?.rows ?? null);
    if (rows === null && floor === null) {
      uncounted.push(table);
      continue;
    }
    if (!readable.has(table)) continue;
    const begun = performance.now();
    const outcome = await check.count(table);
    const counted = {
      table,
      query: check.countQuery(table),
      outcome,
      duration_ms: performance.now() - begun,
    };
    const held =
      rows === null
        ? rowFloorCheck({ ...counted, floor: floor ?? 0n })
        : rowCountCheck({ ...counted, rows, ...(floor === null ? {} : { floor }) });
    outcomes.push(withLoss(held, table, rowsOf(outcome), seen));
    if (rowsOf(outcome) === 0n) empty.push(table);
  }
  const until = performance.now() + (check.countBudget_s ?? COUNTING_S) * 1000;
  const inCopy = await countInCopy(
    check,
    uncounted.filter((table) => readable.has(table)),
  );
  outcomes.push(...inCopy.outcomes);
  for (const [table, rows] of inCopy.counted) if (rows === 0n) empty.push(table);
  const named = new Set(expected.map(({ name }) => name));
  const rest = await checkRest(
    check,
    tables.filter((table) => !named.has(table)),
    until,
  );
  const there = tablesPresentCheck({
    expected: [...named],
    present: [...readable, ...notReadHere],
    notCounted: {
      names: uncounted.filter((table) => !inCopy.counted.has(table)),
      more: rest.notCounted,
    },
    notRead: notReadHere,
    empty: empty.filter((table) => seen?.hadRows(table) !== true),
    ...(check.of === undefined ? {} : { of: check.of }),
    duration_ms: read_ms,
  });
  return [...(there === null ? [] : [there]), ...outcomes, ...rest.outcomes];
}

/**
 * Counts the tables that nobody counted at the source. Nobody waits for the copy, and the next test
 * then knows how many rows they had.
 */
async function countInCopy(
  check: TablesToCheck,
  largestFirst: readonly string[],
): Promise<{ readonly outcomes: readonly CheckOutcome[]; readonly counted: ReadonlyMap<string, bigint> }> {
  const outcomes: CheckOutcome[] = [];
  const budget_s = check.countBudget_s ?? COUNTING_S;
  const counted = await countEach(largestFirst.toReversed(), budget_s, async (table, seconds) => {
    const begun = performance.now();
    const outcome = await check.count(table, seconds);
    if (outcome.kind === "timeout") return null;
    const duration_ms = performance.now() - begun;
    outcomes.push(rowFloorCheck({ table, query: check.countQuery(table), outcome, floor: 0n, duration_ms }));
    // A table that cannot be counted has failed. It did not run out of time.
    return rowsOf(outcome) ?? -1n;
  });
  return { outcomes, counted };
}

/** A receipt has no room for more. */
const MAX_LOST = 50;
/** Too little time to count another table. */
const LEAST_S = 0.05;

interface Rest {
  readonly outcomes: readonly CheckOutcome[];
  /** How many of these tables were counted neither at the source nor here. */
  readonly notCounted: number;
}

/**
 * Makes one check of all tables that the metadata do not name, and one for each of them that lost
 * rows. If neither the source nor the last test counted them, they are counted until the time is
 * up, and there is the first check only if all of them were.
 */
async function checkRest(
  check: TablesToCheck,
  largestFirst: readonly string[],
  until: number,
): Promise<Rest> {
  const { metadata, seen } = check;
  const expected = restOfMetadata(metadata);
  const named = tablesOfMetadata(metadata).length;
  const unnamed = Math.max(0, tableCountOf(metadata) - named);
  const wasCounted = seen?.newest?.checks.some(({ id }) => id.startsWith("inferred:rest")) === true;
  const isLimited = expected === null && !wasCounted;
  // Counts that nothing is known about are no proof, unless others stand beside them.
  const isShown = largestFirst.length > 0 && (named > 0 || check.of !== undefined);
  if (expected === null && (unnamed === 0 || (isLimited && !isShown)))
    return { outcomes: [], notCounted: unnamed };
  const started = performance.now();
  const counts: (readonly [string, bigint])[] = [];
  const lost: CheckOutcome[] = [];
  let notInTime = 0;
  for (const table of isLimited ? largestFirst.toReversed() : largestFirst) {
    const begun = performance.now();
    const half_s = (until - begun) / 2000;
    const outcome =
      !isLimited || half_s > LEAST_S ? await check.count(table, isLimited ? half_s : undefined) : null;
    if (outcome === null || (isLimited && outcome.kind === "timeout")) {
      notInTime += 1;
      continue;
    }
    const floor = seen?.floorOf(table)?.rows ?? null;
    const rows = rowsOf(outcome);
    if (floor !== null) {
      const duration_ms = performance.now() - begun;
      const held = rowFloorCheck({ table, query: check.countQuery(table), outcome, floor, duration_ms });
      if (held.result === "failed") lost.push(withLoss(held, table, rows, seen));
    }
    // A table that cannot be counted is in no digest, so the number of tables differs.
    if (rows === null) continue;
    counts.push([table, rows]);
    check.onUnnamed?.(table, rows);
  }
  if (notInTime > 0) return { outcomes: lost.slice(0, MAX_LOST), notCounted: notInTime };
  const kept = counts.filter(
    ([table]) => seen?.mayShrink(table) !== true && seen?.wasAccepted(table) !== true,
  );
  const all = restCheck({
    ...(check.of === undefined ? {} : { of: check.of }),
    expected,
    tables: counts.length,
    rows: kept.reduce((sum, [, rows]) => sum + rows, 0n),
    empty: kept.filter(([, rows]) => rows === 0n).length,
    filled: kept.filter(([, rows]) => rows > 0n).length,
    sha256: restDigest(counts.map(([table, rows]) => [check.plainName?.(table) ?? table, rows])),
    duration_ms: performance.now() - started,
  });
  return { outcomes: [...lost.slice(0, MAX_LOST), all], notCounted: 0 };
}

function rowsOf(outcome: QueryOutcome): bigint | null {
  const row = outcome.kind === "rows" ? outcome.rows[0] : undefined;
  const digits = row === undefined ? undefined : /^\{"rows":\s*([0-9]{1,19})\}$/.exec(row)?.[1];
  return digits === undefined ? null : BigInt(digits);
}

function higher(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}

/** The message for a count below the floor says what is gone, since when, and what to do. */
function withLoss(
  held: CheckOutcome,
  table: string,
  rows: bigint | null,
  seen: EarlierTests | null,
): CheckOutcome {
  const floor = seen?.floorOf(table) ?? null;
  if (seen === null || floor === null || rows === null || rows >= floor.rows) return held;
  const error = lossText(table, rows, floor, seen);
  return { ...held, observed: { error, ...held.observed } };
}
