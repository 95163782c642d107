import { refutedBy } from "../../backups/refuted-by.ts";
import type { TimelineItem } from "../queries.ts";
import type { Command } from "../../commands/command-state.ts";

type Receipt = Extract<TimelineItem, { type: "receipt" }>["receipt"];

/** One timeline row: a command with its outcome, or a backup with its receipt. */
export interface TimelineRow {
  /** The id of the row's record. */
  id: string;
  at: string;
  item: TimelineItem;
  /** The backup's receipt. */
  receipt?: Receipt;
  /** The command that requested it. */
  command?: Command;
  /** The backup's newest restore test failed. */
  isRefuted?: boolean;
}

/**
 * Merges records about the same thing, in their order. Records whose counterpart is not loaded stay
 * separate.
 */
export function timelineRows(items: readonly TimelineItem[]): TimelineRow[] {
  const rows = new Map<string, TimelineRow>();
  for (const item of items) {
    const id = idOf(item);
    rows.set(id, { id, at: item.at, item });
  }
  for (const row of rows.values()) {
    if (row.item.type === "receipt" && row.item.receipt.kind === "backup") {
      const backup = rows.get(row.item.receipt.backup_id);
      if (backup === undefined) continue;
      backup.receipt = row.item.receipt;
      rows.delete(row.id);
    }
    if (row.item.type === "backup") row.isRefuted = refutedBy(row.item.backup) !== null;
    if (row.item.type === "command") {
      const { receipt_id, backup_id, event_id } = row.item.command.outcome;
      const outcome = [receipt_id, backup_id, event_id]
        .flatMap((id) => (id === undefined ? [] : [rows.get(id)]))
        .find((found) => found !== undefined);
      // Removing a source ends many commands; each keeps its own row.
      if (outcome === undefined || outcome.command !== undefined) continue;
      outcome.command = row.item.command;
      rows.delete(row.id);
    }
  }
  return [...rows.values()];
}

function idOf(item: TimelineItem): string {
  switch (item.type) {
    case "event":
      return item.event.id;
    case "receipt":
      return item.receipt.id;
    case "backup":
      return item.backup.id;
    case "command":
      return item.command.id;
  }
}
