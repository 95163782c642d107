import { backups as text } from "../../text/backups.ts";
import type { Backup } from "./queries.ts";

/**
 * That something stood out in the newest restore test of a backup; or that nothing did, while
 * something does in a newer backup.
 */
export function suspicionWords({
  proven_at,
  suspicious_at,
  last_clean,
}: Pick<Backup, "proven_at" | "suspicious_at" | "last_clean">): string[] {
  const isSuspicious = suspicious_at !== undefined && (proven_at === null || suspicious_at >= proven_at);
  return [...(isSuspicious ? [text.suspicious] : []), ...(last_clean === true ? [text.lastClean] : [])];
}
