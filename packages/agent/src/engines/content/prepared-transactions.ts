/**
 * Transactions of a source that are prepared, and neither committed nor rolled back yet. No dump
 * has them, so a test compares none, and names them.
 */
export type PreparedTransactions =
  | "none"
  | "some"
  /** The server does not show them, or not to the backup's user. */
  | "unseen";

const THERE = "prepared_transaction";
const UNSEEN = "unseen_prepared_transaction";

/** The kinds for `left_out` of the metadata, by what was seen before and after the dump. */
export function preparedKinds(...seen: readonly PreparedTransactions[]): readonly string[] {
  if (seen.includes("some")) return [THERE];
  return seen.includes("unseen") ? [UNSEEN] : [];
}

/** What a test says of such a kind; null for any other. */
export function preparedText(kind: string): string | null {
  if (kind === THERE) return "all of the kind prepared transaction";
  return kind === UNSEEN ? "prepared transactions (the server does not show them)" : null;
}
