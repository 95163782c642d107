import { dayIn } from "../../api/day.ts";
import { present, textIn } from "../../api/search-params.ts";

/** The list's filter in the URL. */
export function readEventSearch(search: Record<string, unknown>) {
  const kind = textIn(search["kind"], 64);
  return present({
    source_id: textIn(search["source_id"]),
    kind: kind !== undefined && /^[a-z_]+$/.test(kind) ? kind : undefined,
    from: dayIn(search["from"]),
    to: dayIn(search["to"]),
  });
}

export type EventSearch = ReturnType<typeof readEventSearch>;
