import type { Status } from "../../parts/marks/status-mark.tsx";
import { eventText as text } from "../../text/log.ts";
import type { LogEvent } from "./queries.ts";

/** An event's title; for a kind that this page does not know, the kind itself. */
export function kindWords(kind: string): string {
  return text.kind[kind] ?? kind.replaceAll("_", " ");
}

/** The kinds to filter by, sorted by their words. */
export const KIND_CHOICES = Object.entries(text.kind).toSorted(([, a], [, b]) => a.localeCompare(b));

/** What an event says about the source's state; most say nothing. */
export function markOf({ kind }: LogEvent): Status {
  if (kind.endsWith("_failed")) return "failed";
  return kind.endsWith("_missed") || kind === "agent_silent" ? "missed" : "none";
}

/** What a person should read of it first; null if it has no such words. */
export function messageIn({ detail }: Pick<LogEvent, "detail">): string | null {
  const { message } = detail;
  return typeof message === "string" && message !== "" ? message : null;
}

export function actorWords(kind: string): string {
  return text.actor[kind] ?? kind.replaceAll("_", " ");
}
