import { dayIn } from "../../api/day.ts";
import { oneOf, present, textIn } from "../../api/search-params.ts";

export const STATUSES = ["available", "expired"] as const;

/** The list's filter in the URL. */
export function readBackupSearch(search: Record<string, unknown>) {
  return present({
    source_id: textIn(search["source_id"]),
    status: oneOf(search["status"], STATUSES),
    from: dayIn(search["from"]),
    to: dayIn(search["to"]),
  });
}

export type BackupSearch = ReturnType<typeof readBackupSearch>;
