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

/**
 * A checkpoint with the cosignature that dates it, and the proof that the pack's own checkpoint
 * extends it. Hashes are in hex.
 */
export interface TimedCheckpoint {
  checkpoint: string;
  tree_size: number;
  /** Consistency proof. Empty for a tree without leaves or for the same tree. */
  hashes: string[];
}

/**
 * log/range.json: the leaves in the pack, without gaps. Together with the left edge (the perfect
 * subtrees of the leaves before) they give the root of `to_index` leaves, and `to_head` proves that
 * this tree is the beginning of the pack's checkpoint.
 */
export interface LogRange {
  v: 1;
  /** A multiple of 256. */
  from_index: number;
  /** Exclusive end. */
  to_index: number;
  /**
   * The pack has the bodies of everything recorded from the period's beginning until this time,
   * which is not before the period's end.
   */
  bodies_until: string;
  left_edge: string[];
  to_head: string[];
  /** The last hourly checkpoint before the period; null if the range begins with the log. */
  start: TimedCheckpoint | null;
  /**
   * The first hourly checkpoint after the period; null if the range ends with the log at the
   * export.
   */
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
