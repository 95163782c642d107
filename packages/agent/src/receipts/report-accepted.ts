import { newId } from "@attestore/contract";
import type { Layout } from "../state/layout.ts";
import { readSourceIds } from "../state/source-ids.ts";
import { spoolEvent } from "./spooled-event.ts";

/** A person accepted a change of a source; this is the log's form of it. */
export interface AcceptedChange {
  readonly change: "tables" | "identity";
  /** For people. */
  readonly message: string;
  readonly by: string;
  readonly [more: string]: unknown;
}

/** Signs it and puts it into the spool, so an auditor sees who accepted what and why. */
export async function reportAccepted(
  layout: Layout,
  slug: string,
  at: string,
  detail: AcceptedChange,
): Promise<void> {
  const sourceId = (await readSourceIds(layout)).get(slug);
  await spoolEvent(layout, newId("event"), {
    kind: "change_accepted",
    ...(sourceId === undefined ? {} : { source_id: sourceId }),
    occurred_at: at,
    detail,
  });
}
