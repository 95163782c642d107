import type { Backup } from "./queries.ts";

/** The receipt of the restore test that the backup failed and has not passed since; null where there is none. */
export function refutedBy({
  proven_at,
  failed_at,
  failed_receipt_id,
}: Pick<Backup, "proven_at" | "failed_at" | "failed_receipt_id">): string | null {
  return failed_at !== undefined && (proven_at === null || proven_at < failed_at)
    ? (failed_receipt_id ?? null)
    : null;
}
