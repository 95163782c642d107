/** Kinds of findings, by what is wrong. */
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
  /** What was compared, and where. */
  message: string;
}

export type Report = (code: FindingCode, message: string) => void;

/** Counts of what was checked. */
export interface Counts {
  logs: number;
  leaves: number;
  receipts: number;
  events: number;
  tiles: number;
  heads: number;
  checkpoints: number;
}

export function noCounts(): Counts {
  return { logs: 0, leaves: 0, receipts: 0, events: 0, tiles: 0, heads: 0, checkpoints: 0 };
}
