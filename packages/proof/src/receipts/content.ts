/** What a check saw, as a restore-test receipt has it. */
interface Observed {
  readonly id: string;
  readonly expectation?: string;
  readonly result?: string;
  readonly observed: Readonly<Record<string, unknown>>;
}

/**
 * How far a restore test compared what came back with what its dump holds, over all of a backup's
 * databases.
 */
export interface ComparedContent {
  /** Tables whose rows were compared. */
  readonly tables: number;
  /** Of those: the ones that hold something else. */
  readonly differing: number;
  /** Tables, columns and other data that were not. */
  readonly notCompared: number;
}

const CONTENT = /^inferred:content(?::|$)/;

/** As the test's own checks say; null where it compared no table's content. */
export function comparedContent(checks: readonly Observed[]): ComparedContent | null {
  const content = checks.filter(({ id }) => CONTENT.test(id));
  if (content.length === 0) return null;
  const sum = (name: string): number =>
    content.reduce((total, { observed }) => total + countOf(observed[name]), 0);
  return { tables: sum("tables"), differing: sum("differing"), notCompared: sum("not_compared") };
}

/** The same in words; null of a tree of files, each of which its manifest compares. */
export function comparedContentText(checks: readonly Observed[]): string | null {
  if (checks.some(({ id }) => id === "inferred:manifest")) return null;
  const content = comparedContent(checks);
  if (content === null) return "content not compared";
  const { tables, differing, notCompared } = content;
  const differs = differing === 0 ? "" : `, ${differing} not what the dump holds`;
  const besides = notCompared === 0 ? "" : `; not compared: ${notCompared} more`;
  return `content of ${tables} ${tables === 1 ? "table" : "tables"} compared${differs}${besides}`;
}

/**
 * Which of the checks says that it passed although the content that it saw is not the one that was
 * signed: its index, or -1. Whatever it does not say is not held against it.
 */
export function contradictedContent(checks: readonly Observed[]): number {
  return checks.findIndex(({ id, result, expectation, observed }) => {
    if (!CONTENT.test(id) || result !== "passed") return false;
    const signed = /\bsha256 = '([0-9a-f]{64})'/.exec(expectation ?? "")?.[1];
    const { differing, sha256, tables } = observed;
    return (
      (typeof differing === "number" && differing !== 0) ||
      (typeof tables === "number" && tables === 0) ||
      (signed !== undefined && typeof sha256 === "string" && sha256 !== signed)
    );
  });
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
