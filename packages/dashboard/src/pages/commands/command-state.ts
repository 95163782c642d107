import type { Schemas } from "@attestore/contract/client";
import type { Status } from "../../parts/marks/status-mark.tsx";
import { commandText } from "../../text/commands.ts";

export type Command = Schemas["CommandRecord"];

const DAY_MS = 86_400_000;

/**
 * How a command ended: `failed` if an event says that it could not run, `withdrawn` if it was ended
 * without a result.
 */
export type CommandEnd = "receipt" | "failed" | "withdrawn" | null;

export function endOf({ outcome, ended_at }: Command): CommandEnd {
  if (outcome.receipt_id !== undefined) return "receipt";
  if (outcome.event_id !== undefined) return ended_at === null ? "failed" : "withdrawn";
  return ended_at === null ? null : "withdrawn";
}

/**
 * Whether the command is still expected to end: one that an agent never answered is not waited for
 * longer than a day.
 */
export function isUnderWay(command: Command, now: Date): boolean {
  return endOf(command) === null && now.getTime() - new Date(command.created_at).getTime() < DAY_MS;
}

/** Progress: how many of the steps queued, delivered, accepted and done are complete. */
export function stepsDone(command: Command): number {
  if (endOf(command) !== null) return 4;
  return { queued: 1, delivered: 2, acked: 3 }[command.status];
}

/** A restore test's result is said in the words that its receipt has. */
export function wordOf(command: Command): string {
  const { result } = command.outcome;
  if (result !== undefined) return commandText.tested[result];
  const end = endOf(command);
  return end === null ? commandText.statuses[command.status] : commandText.ended[end];
}

/** A backup that was made is not marked: nobody knows yet whether it restores. */
export function markOf(command: Command): Status {
  const { result } = command.outcome;
  if (result === "passed") return "proven";
  return result === "failed" || endOf(command) === "failed" ? "failed" : "none";
}
