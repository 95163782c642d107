import { dayIn } from "../../api/day.ts";
import { oneOf, present, textIn } from "../../api/search-params.ts";

export const KINDS = ["backup", "restore_test"] as const;
export const RESULTS = ["passed", "failed"] as const;

/** The list's filter in the URL, so that it can be shared. */
export function readReceiptSearch(search: Record<string, unknown>) {
  return present({
    source_id: textIn(search["source_id"]),
    kind: oneOf(search["kind"], KINDS),
    result: oneOf(search["result"], RESULTS),
    from: dayIn(search["from"]),
    to: dayIn(search["to"]),
  });
}

export type ReceiptSearch = ReturnType<typeof readReceiptSearch>;
