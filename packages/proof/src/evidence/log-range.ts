import {
  listOf,
  members,
  nonEmptyText,
  nullOr,
  oneOf,
  requireKnownShape,
  wholeNumber,
} from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { sha256Hex, timestamp } from "../shapes.ts";

/** A checkpoint with the time's cosignature, and the proof that the pack's own extends it. Hashes in hex. */
export interface TimedCheckpoint {
  checkpoint: string;
  tree_size: number;
  /** Consistency proof; empty for a tree of no leaves or the same tree. */
  hashes: string[];
}

/**
 * log/range.json: which leaves are in the pack, every one of them. With the left edge (the perfect subtrees of the leaves before)
 * they give the root of `to_index` leaves, which `to_head` proves to be the beginning of the tree of the pack's checkpoint.
 */
export interface LogRange {
  v: 1;
  /** A multiple of 256. */
  from_index: number;
  /** Not in the pack any more. */
  to_index: number;
  /** Of what was recorded from the period's beginning until then, which is not before its end, the bodies are in the pack too. */
  bodies_until: string;
  left_edge: string[];
  to_head: string[];
  /** The last hourly checkpoint before the period; null where the range begins with the log. */
  start: TimedCheckpoint | null;
  /** The first one after it; null where the range ends with the log as it was at the export. */
  end: TimedCheckpoint | null;
}

const hashes = listOf(sha256Hex, { max: 64 });
const timed = nullOr(members({ checkpoint: nonEmptyText, tree_size: wholeNumber, hashes }));

const RANGE = members({
  v: oneOf(1),
  from_index: wholeNumber,
  to_index: wholeNumber,
  bodies_until: timestamp,
  left_edge: hashes,
  to_head: hashes,
  start: timed,
  end: timed,
});

/** Throws `malformed_evidence`, `malformed_json` or `malformed_utf8`. */
export function parseLogRange(source: Uint8Array): LogRange {
  const value = parseJson(source);
  requireKnownShape(value, RANGE, "malformed_evidence", "the log's range");
  return value as unknown as LogRange;
}
