import { RunError } from "../../errors/run-error.ts";
import { requireFresh } from "../foreign/require-fresh.ts";
import { globPattern } from "../../config/engines/glob.ts";
import type { DumpsPlace, FoundDump } from "./place.ts";
import type { DumpsSettings } from "../../config/engines/dumps.ts";

/**
 * Returns the newest file that matches and that nobody has written to for a while.
 * @throws RunError `source_missing` if there is none or if it is too old; `source_changed` if all
 * of them are still being written.
 */
export async function newestDump(
  place: DumpsPlace,
  { pattern, min_age_s, max_age_s, min_bytes }: DumpsSettings,
  signal: AbortSignal,
): Promise<FoundDump> {
  const found = await place.list(globPattern(pattern) ?? [], signal);
  const now = Date.now();
  const large = found.filter(({ size }) => size >= min_bytes);
  // A bucket's clock can be ahead of ours, and so can the fractions of a millisecond of a file
  // system.
  const settled = large.filter(({ modified_ms }) => min_age_s === 0 || now - modified_ms >= min_age_s * 1000);
  const newest = settled.toSorted((a, b) => b.modified_ms - a.modified_ms || (a.path < b.path ? 1 : -1))[0];
  const what = `${place.where}/${pattern}`;
  if (newest === undefined) {
    const why =
      found.length === 0
        ? `no file matches ${what}`
        : large.length === 0
          ? `every file that matches ${what} is smaller than ${min_bytes} bytes`
          : `every file that matches ${what} was written to in the last ${min_age_s} s, and may be incomplete`;
    throw new RunError(large.length > 0 ? "source_changed" : "source_missing", why);
  }
  requireFresh(`dump, ${newest.path},`, newest.modified_ms, { max_age_s, now });
  return newest;
}
