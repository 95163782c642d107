import { oneOf, present, textIn } from "../../api/search-params.ts";

export const STATUSES = ["queued", "delivered", "acked"] as const;
export const KINDS = ["backup", "restore_test"] as const;

/** The filter of the commands list. */
export function readCommandSearch(search: Record<string, unknown>) {
  return present({
    status: oneOf(search["status"], STATUSES),
    kind: oneOf(search["kind"], KINDS),
    source_id: textIn(search["source_id"]),
  });
}

export type CommandSearch = ReturnType<typeof readCommandSearch>;
