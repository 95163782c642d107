import type { Status } from "../../parts/status-mark.tsx";
import { eventText as text } from "../../text/log.ts";
import type { LogEvent } from "./queries.ts";

/** What an event is called; a kind that this page does not know by its own name. */
export function kindWords(kind: string): string {
  return text.kind[kind] ?? kind.replaceAll("_", " ");
}

/** Kinds that can be asked for, in the order of their words. */
export const KIND_CHOICES = Object.entries(text.kind).toSorted(([, a], [, b]) => a.localeCompare(b));

/** What an event means for what is proven; most mean nothing. */
export function markOf({ kind }: LogEvent): Status {
  if (kind.endsWith("_failed")) return "failed";
  return kind.endsWith("_missed") || kind === "agent_silent" ? "missed" : "none";
}

export function actorWords(kind: string): string {
  return text.actor[kind] ?? kind.replaceAll("_", " ");
}
