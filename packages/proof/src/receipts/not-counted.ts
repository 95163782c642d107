/** A check's observations, as a restore-test receipt has them. */
interface Observed {
  readonly id: string;
  readonly observed: Readonly<Record<string, unknown>>;
}

/**
 * The number of tables whose rows were not counted, according to the restore test's own checks. For
 * these it is only known that they exist and can be read.
 */
export function tablesNotCounted(checks: readonly Observed[]): number {
  return checks.reduce((sum, { id, observed }) => {
    const count = /^inferred:tables(?::|$)/.test(id) ? observed["not_counted"] : 0;
    return sum + (typeof count === "number" && Number.isSafeInteger(count) && count > 0 ? count : 0);
  }, 0);
}
