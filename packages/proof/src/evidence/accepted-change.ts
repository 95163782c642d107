import type { LoggedEvent } from "./event-statement.ts";
import type { AcceptedChange } from "./summary.ts";

const MAX_TEXT = 1000;
const MAX_TABLES = 50;

interface Reported {
  readonly id: string;
  readonly recordedAt: string;
  readonly actorId: string;
  readonly event: LoggedEvent;
}

/**
 * What an event says of a change that somebody accepted. The detail is the agent's and may be
 * anything.
 */
export function acceptedChange({ id, recordedAt, actorId, event }: Reported): AcceptedChange {
  const { change, tables, by, because } = event.detail;
  return {
    at: recordedAt,
    source_id: event.source_id ?? null,
    event_id: id,
    actor_id: actorId,
    change: textOf(change) ?? "unknown",
    tables: Array.isArray(tables) ? tables.slice(0, MAX_TABLES).flatMap((table) => textOf(table) ?? []) : [],
    by: textOf(by),
    because: textOf(because),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value.slice(0, MAX_TEXT).toWellFormed() : null;
}
