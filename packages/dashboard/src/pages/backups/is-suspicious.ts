import type { Backup } from "./queries.ts";

/** Whether something stood out in the newest restore test of a backup that passed. */
export function isSuspicious({
  proven_at,
  suspicious_at,
}: Pick<Backup, "proven_at" | "suspicious_at">): boolean {
  return suspicious_at !== undefined && (proven_at === null || suspicious_at >= proven_at);
}
