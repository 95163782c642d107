/** A check's observations, as a restore-test receipt has them. */
interface Observed {
  readonly id: string;
  readonly observed: Readonly<Record<string, unknown>>;
}

/** Tables that a restore test says something about: how many, and their names as far as told. */
export interface NamedTables {
  readonly count: number;
  /**
   * Separated by commas; it ends in `…` if the receipt has no room for all. Null if it names none.
   */
  readonly names: string | null;
}

/**
 * The number of tables whose rows were not counted, according to the restore test's own checks. For
 * these it is only known that they exist and can be read.
 */
export function tablesNotCounted(checks: readonly Observed[]): number {
  return namedTables(checks, "not_counted").count;
}

/** The tables whose rows were not counted, with their names as far as the receipt has them. */
export function namedNotCounted(checks: readonly Observed[]): NamedTables {
  return namedTables(checks, "not_counted");
}

/** Tables without rows in which no earlier test saw any either. */
export function emptyTables(checks: readonly Observed[]): NamedTables {
  return namedTables(checks, "empty");
}

/**
 * Tables of SQLite, or their indexes, that the integrity check could not look at, each with the
 * reason: SQLite there lacks what the application adds to it.
 */
export function notLookedAt(checks: readonly Observed[]): NamedTables {
  return named(checks, /^inferred:integrity(?::|$)/, "not_checked", "not_checked_names");
}

const CONSTRAINTS = /^inferred:foreign_keys(?::|$)/;

/** Constraints that rows break and that fail no test, because the source has them so. */
export function constraintsNotMet(checks: readonly Observed[]): NamedTables {
  return named(checks, CONSTRAINTS, "not_met", "not_met_names");
}

/** Constraints that the restore test had no time for, or that the server could not evaluate. */
export function constraintsNotChecked(checks: readonly Observed[]): NamedTables {
  return named(checks, CONSTRAINTS, "not_checked", "not_checked_names");
}

const INDEXES = /^inferred:indexes(?::|$)/;

/** Indexes of the copy that do not fit their tables. */
export function indexesUnfit(checks: readonly Observed[]): NamedTables {
  return named(checks, INDEXES, "unfit", "unfit_names");
}

/** Indexes that the restore test did not look at, each with the reason. */
export function indexesNotChecked(checks: readonly Observed[]): NamedTables {
  return named(checks, INDEXES, "not_checked", "not_checked_names");
}

/**
 * Kinds of objects of which the source has fewer than in the backup that was tested before, for
 * people: `triggers 3 of 4, grants 9 of 10`. A loss that is small enough to be right. Null if there
 * is none.
 */
export function fewerObjects(checks: readonly Observed[]): string | null {
  return named(checks, /^inferred:kinds$/, "fewer", "fewer").names;
}

function namedTables(checks: readonly Observed[], field: "not_counted" | "empty"): NamedTables {
  return named(checks, /^inferred:tables(?::|$)/, field, `${field}_tables`);
}

function named(checks: readonly Observed[], check: RegExp, field: string, namesField: string): NamedTables {
  let count = 0;
  const names: string[] = [];
  for (const { id, observed } of checks) {
    if (!check.test(id)) continue;
    const found = observed[field];
    if (typeof found === "number" && Number.isSafeInteger(found) && found > 0) count += found;
    const text = namesOf(observed[namesField]);
    if (text !== null) names.push(text);
  }
  return { count, names: names.length === 0 ? null : names.join(", ") };
}

/** A long text stands as `{text, length, sha256}`, with its beginning. */
function namesOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  const isCut = typeof value === "object" && value !== null && "text" in value;
  return isCut && typeof value.text === "string" ? `${value.text}…` : null;
}
