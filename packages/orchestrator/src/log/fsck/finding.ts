import { plural } from "@attestore/proof";

/** Kinds of findings, by the part that is wrong. */
export type FindingCode =
  | "log_missing"
  | "log_row"
  | "generation"
  | "leaf"
  | "tile"
  | "head"
  | "signed_head"
  | "checkpoint"
  | "entry_missing"
  | "entry_differs"
  | "entry_unlogged"
  | "envelope";

export interface Finding {
  code: FindingCode;
  orgId: string;
  /** The compared part, and its place. */
  message: string;
}

export type Report = (code: FindingCode, message: string) => void;

/** How much was checked. */
export interface Counts {
  logs: number;
  leaves: number;
  receipts: number;
  /** Receipts whose envelopes are in the archive, which was not read. */
  unread: number;
  events: number;
  tiles: number;
  heads: number;
  checkpoints: number;
}

export function noCounts(): Counts {
  return { logs: 0, leaves: 0, receipts: 0, unread: 0, events: 0, tiles: 0, heads: 0, checkpoints: 0 };
}

/** Such as "1 log, 6 leaves". */
export function countsText(counts: Readonly<Counts>): string {
  return [
    plural(counts.logs, "log"),
    plural(counts.leaves, "leaf", "leaves"),
    plural(counts.receipts, "receipt"),
    plural(counts.events, "event"),
    plural(counts.tiles, "tile"),
    plural(counts.heads, "head"),
    plural(counts.checkpoints, "checkpoint"),
  ].join(", ");
}
