import { type CheckOutcome, isSha256 } from "@attestore/proof";
import { clip } from "./clip.ts";
import { type CheckDefinition, evaluateCheck, failCheck } from "./evaluate-check.ts";
import { quoteText } from "./expectation/expression.ts";
import { formatRow } from "./format-row.ts";
import type { QueryOutcome } from "./query-outcome.ts";

/**
 * Checks that nobody has to write: the same evaluator compares the backup's own metadata with the
 * restored copy. Their ids contain a colon, which a configured check's id cannot, so the two are
 * never confused.
 */
const INFERRED = "inferred:";
const MAX_TABLE = 200;

/** How a check compares that has only an earlier backup's digest. It is shown, and not compared. */
export const LESS_EXACTLY = "expressions without casts, parentheses and spaces";

export function isInferred(id: string): boolean {
  return id.startsWith(INFERRED);
}

interface Timed {
  readonly duration_ms: number;
}

/**
 * Every table that the backup's metadata names exists. Null if it names none: that would be no
 * check. `of` is the database, if there are several.
 */
export function tablesPresentCheck({
  expected,
  present,
  notCounted,
  notRead = [],
  empty = [],
  of,
  duration_ms,
}: Timed & {
  readonly expected: readonly string[];
  readonly present: readonly string[];
  /** Tables whose rows nobody counted: by name, and how many more without names here. */
  readonly notCounted?: { readonly names: readonly string[]; readonly more: number };
  /** They exist, but this host lacks something to read them with: shown, and not compared. */
  readonly notRead?: readonly string[];
  /** Without rows, and no test saw any in them. Nobody knows whether that is right. */
  readonly empty?: readonly string[];
  readonly of?: string;
}): CheckOutcome | null {
  const names = [...new Set(expected)].sort();
  if (names.length === 0) return null;
  const there = new Set(present);
  const missing = names.filter((name) => !there.has(name));
  const definition: CheckDefinition = {
    id: `${INFERRED}tables${of === undefined ? "" : `:${clip(of, MAX_TABLE)}`}`,
    query: `how many of these tables are missing: ${JSON.stringify(names)}`,
    expect: "missing = 0",
  };
  const row = formatRow([
    ["tables", names.length],
    ["missing", missing.length],
    ...(missing.length === 0 ? [] : [["missing_tables", missing.join(", ")] as const]),
    ...notCountedCells(notCounted),
    ...(notRead.length === 0
      ? []
      : ([
          ["not_read", notRead.length],
          ["not_read_tables", notRead.join(", ")],
        ] as const)),
    ...(empty.length === 0
      ? []
      : ([
          ["empty", empty.length],
          ["empty_tables", empty.join(", ")],
        ] as const)),
  ]);
  return evaluateCheck(definition, { kind: "rows", rows: [row] }, duration_ms);
}

/** Shown, and not compared: nobody knows what should be in them. */
function notCountedCells(
  { names, more }: { readonly names: readonly string[]; readonly more: number } = { names: [], more: 0 },
): (readonly [string, string | number])[] {
  if (names.length + more === 0) return [];
  const listed = names.length === 0 ? [] : [["not_counted_tables", names.join(", ")] as const];
  return [["not_counted", names.length + more], ...listed];
}

/** Every role that the backup's metadata names exists. Null if it names none. */
export function rolesPresentCheck({
  expected,
  present,
  duration_ms,
}: Timed & {
  readonly expected: readonly string[];
  readonly present: readonly string[];
}): CheckOutcome | null {
  const names = [...new Set(expected)].sort();
  if (names.length === 0) return null;
  const there = new Set(present);
  const missing = names.filter((name) => !there.has(name));
  const definition: CheckDefinition = {
    id: `${INFERRED}roles`,
    query: `how many of these roles are missing: ${JSON.stringify(names)}`,
    expect: "missing = 0",
  };
  const row = formatRow([
    ["roles", names.length],
    ["missing", missing.length],
    ...(missing.length === 0 ? [] : [["missing_roles", missing.join(", ")] as const]),
  ]);
  return evaluateCheck(definition, { kind: "rows", rows: [row] }, duration_ms);
}

/** `of` is the database, if there are several. */
export function contentCheckId(of?: string): string {
  return `${INFERRED}content${of === undefined ? "" : `:${clip(of, MAX_TABLE)}`}`;
}

/** Objects that are compared with each other, apart from the rest. */
export type ObjectsGroup = "objects" | "privileges" | "unrestored";

/** `of` is the database, if there are several. */
export function objectsCheckId(of?: string, what: ObjectsGroup = "objects"): string {
  return `${INFERRED}${what}${of === undefined ? "" : `:${clip(of, MAX_TABLE)}`}`;
}

/** `of` is the database, if there are several. */
export function foreignKeysCheckId(of?: string): string {
  return `${INFERRED}foreign_keys${of === undefined ? "" : `:${clip(of, MAX_TABLE)}`}`;
}

/** `of` is the database, if there are several. */
export function indexesCheckId(of?: string): string {
  return `${INFERRED}indexes${of === undefined ? "" : `:${clip(of, MAX_TABLE)}`}`;
}

export function rowCheckId(table: string): string {
  return `${INFERRED}rows:${clip(table, MAX_TABLE)}`;
}

/**
 * How a table's rows are counted: `query` returns one row with the column `rows`, and returned
 * `outcome`.
 */
interface Counted extends Timed {
  readonly table: string;
  readonly query: string;
  readonly outcome: QueryOutcome;
}

/** A table has exactly the rows that were counted in the dump, and no fewer than a floor. */
export function rowCountCheck({
  rows,
  floor = null,
  ...counted
}: Counted & { readonly rows: number | bigint; readonly floor?: number | bigint | null }): CheckOutcome {
  return countCheck("=", rows, counted, floor === null ? "" : ` and rows >= ${floor}`);
}

/** A table has at least this many rows. */
export function rowFloorCheck({
  floor,
  ...counted
}: Counted & { readonly floor: number | bigint }): CheckOutcome {
  return countCheck(">=", floor, counted);
}

/**
 * The tables that a receipt has no room to name have exactly the signed counts. `expected` is null
 * if those are not known: then this only shows what there is, for the next test's floors.
 */
export function restCheck({
  of,
  expected,
  duration_ms,
  ...found
}: Timed & {
  readonly of?: string;
  readonly expected: { readonly tables: number; readonly sha256: string } | null;
  readonly tables: number;
  readonly rows: bigint;
  readonly filled: number;
  readonly empty: number;
  readonly sha256: string;
}): CheckOutcome {
  const definition: CheckDefinition = {
    id: `${INFERRED}rest${of === undefined ? "" : `:${clip(of, MAX_TABLE)}`}`,
    query: "the rows of every table that the backup's metadata do not name",
    expect:
      expected === null
        ? "tables > 0"
        : `tables = ${expected.tables} and sha256 = ${quoteText(expected.sha256)}`,
  };
  const { tables, rows, filled, empty, sha256 } = found;
  const row = formatRow([
    ["tables", tables],
    ["rows", rows],
    ["filled", filled],
    ["empty", empty],
    ["sha256", sha256],
  ]);
  return evaluateCheck(definition, { kind: "rows", rows: [row] }, duration_ms);
}

/** Anything that is not a count fails the check: `rows >= -1` would hold whatever was restored. */
function countCheck(
  operator: "=" | ">=",
  count: number | bigint,
  { table, query, outcome, duration_ms }: Counted,
  more = "",
): CheckOutcome {
  const id = rowCheckId(table);
  const definition = { id, query, expect: `rows ${operator} ${count}${more}` };
  const isCount = count >= 0 && (typeof count === "bigint" || Number.isSafeInteger(count));
  if (!isCount) return failCheck(definition, "the backup's metadata has no row count", duration_ms);
  return evaluateCheck(definition, outcome, duration_ms);
}

/**
 * Something whose SHA-256 is in the backup's metadata, such as the manifest of a file tree, still
 * has it. Anything that is not a SHA-256 fails the check: two empty texts would be equal whatever
 * was restored.
 */
export function digestCheck({
  name,
  expectedSha256,
  observedSha256,
  isExact = true,
  duration_ms,
}: Timed & {
  /** The content that the digest covers, for the check's id: `manifest`. */
  readonly name: string;
  readonly expectedSha256: string;
  readonly observedSha256: string;
  /** False if the digest leaves out what `LESS_EXACTLY` says. */
  readonly isExact?: boolean;
}): CheckOutcome {
  const definition = {
    id: `${INFERRED}${name}`,
    query: `sha256 of the restored ${name}`,
    expect: `sha256 = ${quoteText(expectedSha256)}`,
  };
  if (!isSha256(expectedSha256)) {
    return failCheck(definition, `the backup's metadata has no SHA-256 of the ${name}`, duration_ms);
  }
  const row = formatRow([
    ["sha256", observedSha256],
    ...(isExact ? [] : [["less_exactly", LESS_EXACTLY] as const]),
  ]);
  return evaluateCheck(definition, { kind: "rows", rows: [row] }, duration_ms);
}

/**
 * SQLite's own opinion: `messages` are the rows of `pragma integrity_check`, a single `ok` if all
 * is well. `notChecked` names what this SQLite lacks something for: it is shown, and not compared.
 */
export function sqliteIntegrityCheck({
  messages,
  notChecked = [],
  duration_ms,
}: Timed & {
  readonly messages: readonly string[];
  readonly notChecked?: readonly string[];
}): CheckOutcome {
  const definition = {
    id: `${INFERRED}integrity`,
    query: "pragma integrity_check",
    expect: "messages = 1 and message = 'ok'",
  };
  const row = formatRow([
    ["messages", messages.length],
    ["message", messages[0] ?? null],
    ...(notChecked.length === 0
      ? []
      : ([
          ["not_checked", notChecked.length],
          ["not_checked_names", notChecked.join(", ")],
        ] as const)),
  ]);
  return evaluateCheck(definition, { kind: "rows", rows: [row] }, duration_ms);
}

/**
 * As many of a SQLite database's rows refer to one that is not there as did in the dump. That is
 * the source's own matter, and shown.
 */
export function foreignKeysCheck({
  expected,
  broken,
  tables,
  duration_ms,
}: Timed & {
  readonly expected: number;
  readonly broken: number;
  readonly tables: readonly string[];
}): CheckOutcome {
  const definition = {
    id: foreignKeysCheckId(),
    query: "pragma foreign_key_check",
    expect: `broken = ${expected}`,
  };
  const row = formatRow([
    ["broken", broken],
    ...(tables.length === 0 ? [] : [["tables", clip(tables.join(", "), MAX_TABLE)] as const]),
  ]);
  return evaluateCheck(definition, { kind: "rows", rows: [row] }, duration_ms);
}
