import { RunError } from "../../errors/run-error.ts";
import { requireFresh, SKEW_S } from "../foreign/require-fresh.ts";
import { globPattern } from "../../config/engines/glob.ts";
import type { DumpsPlace, FoundDump } from "./place.ts";
import type { DumpsSettings } from "../../config/engines/dumps.ts";

/**
 * Returns the newest file that matches and that nobody has written to for a while.
 * @throws RunError `source_missing` if there is none or if it is too old; `source_changed` if all
 * of them are still being written; `dump_failed` if an empty one of its kind is newer.
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
  // system. What is dated further in the future was not written just now: nobody knows when.
  const isSettled = ({ modified_ms }: FoundDump): boolean =>
    min_age_s === 0 || now - modified_ms >= min_age_s * 1000 || modified_ms - now > SKEW_S * 1000;
  const settled = large.filter(isSettled);
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
  const empty = found.find(
    (each) =>
      each.size === 0 &&
      each.modified_ms > newest.modified_ms &&
      isSettled(each) &&
      kindOf(each.path) === kindOf(newest.path),
  );
  if (empty !== undefined)
    throw new RunError(
      "dump_failed",
      `${place.where}/${empty.path} is empty, and newer than the newest dump, ${newest.path}: the job that makes the dumps has failed, ` +
        "so find out why. If the empty file is not one of its dumps, remove it, or choose a pattern that leaves it out",
    );
  return newest;
}

/** What names of dumps have in common from day to day: `orders-2026-11-28.sql.gz` gives `.gz`. */
function kindOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.slice(Math.max(0, name.lastIndexOf("."))).replaceAll(/[0-9]+/g, "0");
}
