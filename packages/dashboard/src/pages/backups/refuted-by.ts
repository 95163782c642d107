import type { Backup } from "./queries.ts";

/**
 * The receipt of the failed restore test that no later test of this backup has overturned; null if
 * there is none.
 */
export function refutedBy({
  proven_at,
  failed_at,
  failed_receipt_id,
}: Pick<Backup, "proven_at" | "failed_at" | "failed_receipt_id">): string | null {
  return failed_at !== undefined && (proven_at === null || proven_at < failed_at)
    ? (failed_receipt_id ?? null)
    : null;
}
