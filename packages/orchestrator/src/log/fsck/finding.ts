/** What is wrong, by the thing that is. */
export type FindingCode =
  | "log_missing"
  | "log_row"
  | "leaf"
  | "tile"
  | "head"
  | "emission"
  | "entry_missing"
  | "entry_differs"
  | "entry_unlogged"
  | "envelope";

export interface Finding {
  code: FindingCode;
  orgId: string;
  /** What was compared with what, and where. */
  message: string;
}

export type Report = (code: FindingCode, message: string) => void;

/** What was looked at. */
export interface Counts {
  logs: number;
  leaves: number;
  receipts: number;
  events: number;
  tiles: number;
  heads: number;
  emissions: number;
}

export function noCounts(): Counts {
  return { logs: 0, leaves: 0, receipts: 0, events: 0, tiles: 0, heads: 0, emissions: 0 };
}
