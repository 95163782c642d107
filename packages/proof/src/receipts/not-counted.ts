/** What a check saw, as a restore-test receipt has it. */
interface Observed {
  readonly id: string;
  readonly observed: Readonly<Record<string, unknown>>;
}

/**
 * How many tables' rows nobody counted, as a restore test's own checks say: of those it is known that they are there and can be
 * read, and no more.
 */
export function tablesNotCounted(checks: readonly Observed[]): number {
  return checks.reduce((sum, { id, observed }) => {
    const count = /^inferred:tables(?::|$)/.test(id) ? observed["not_counted"] : 0;
    return sum + (typeof count === "number" && Number.isSafeInteger(count) && count > 0 ? count : 0);
  }, 0);
}
