import {
  EMPTY_ROOT,
  equalBytes,
  hashFromHex,
  type LogRange,
  type NoteVerifier,
  openLogCheckpoint,
  requireHeadOf,
  ProofError,
  type TimedCheckpoint,
  verifyConsistency,
  plural,
} from "@attestore/proof";
import type { PackLog } from "./pack-log.ts";
import type { JudgedTimes } from "../files/entry-times.ts";
import type { Findings } from "../findings.ts";
import { type PackFiles, reasonOf } from "../files/pack-files.ts";

/**
 * Checks that nothing of the period lies outside the range. The range must begin no later than a
 * checkpoint cosigned before the period, or with the log. It must end no earlier than a checkpoint
 * cosigned after the period, or with the log.
 */
export async function checkPeriod(
  files: PackFiles,
  findings: Findings,
  log: PackLog,
  range: LogRange,
  times: JudgedTimes,
): Promise<void> {
  const { period, exported_at } = files.manifest;
  const { start, end, from_index, to_index, bodies_until } = range;
  try {
    if (period.from >= period.to || period.to > exported_at)
      refuse("the period is empty, or was not over at the export");
    if (bodies_until < period.to || bodies_until > exported_at)
      refuse("the pack lacks the body of something recorded in the period");
    if (start === null && from_index !== 0) refuse("no checkpoint shows the log before the period");
    if (end === null && to_index !== log.size) refuse("no checkpoint shows the log after the period");
    const before = start === null ? null : await openTimed(log, start);
    const after = end === null ? null : await openTimed(log, end);
    if (start !== null && start.tree_size < from_index)
      refuse("the range begins after the checkpoint before it");
    if (end !== null && end.tree_size > to_index) refuse("the range ends before the checkpoint after it");
    if (before !== null && before * 1000 > Date.parse(period.from))
      refuse("the checkpoint before the period has a later time");
    // Cosignatures have a resolution of one second.
    if (after !== null && (after + 1) * 1000 <= Date.parse(bodies_until))
      refuse("the checkpoint after the period has an earlier time");
    if (times.odd > 0)
      findings.leaveOpen(
        "period",
        `${plural(times.odd, "leaf", "leaves")} of the range with a recording time far outside it`,
      );
    findings.hold(
      "period",
      `${describe(before, "the log's first leaf")} to ${describe(after, "the checkpoint of the export")}${explained(times)}`,
    );
  } catch (error) {
    findings.fail("period", reasonOf(error));
  }
}

/** When the key that dates checkpoints saw it, in POSIX seconds. Throws ProofError. */
async function openTimed(
  { key, timeKey, size, rootHash, generations }: PackLog,
  timed: TimedCheckpoint,
): Promise<number> {
  const timeKeys: NoteVerifier[] = timeKey === null ? [] : [timeKey];
  const opened = await openLogCheckpoint(timed.checkpoint, key, timeKeys);
  requireHeadOf(generations.rollbacks, { origin: opened.origin, size: Number(opened.size) });
  const time = opened.cosignatures[0]?.timestamp_s;
  if (time === undefined)
    return refuse(`the checkpoint of ${plural(opened.size, "leaf", "leaves")} has no time`);
  if (Number(opened.size) !== timed.tree_size) refuse("a checkpoint's size differs from the range's");
  if (opened.size === 0n) {
    if (!equalBytes(opened.rootHash, EMPTY_ROOT)) refuse("a checkpoint of no leaves has a root");
    return time;
  }
  verifyConsistency({
    from: opened.size,
    to: BigInt(size),
    fromRoot: opened.rootHash,
    toRoot: rootHash,
    hashes: timed.hashes.map(hashFromHex),
  });
  return time;
}

/** At most this many events are named. */
const MAX_NAMED = 10;

function explained({ explained: count, by }: JudgedTimes): string {
  if (count === 0) return "";
  const more = by.length > MAX_NAMED ? ` and ${by.length - MAX_NAMED} more` : "";
  return `; the service's clock was wrong: ${plural(count, "entry", "entries")} of its own, dated too late, ${count === 1 ? "is" : "are"} named by ${by.slice(0, MAX_NAMED).join(", ")}${more}`;
}

function describe(time: number | null, otherwise: string): string {
  return time === null ? otherwise : `the checkpoint cosigned ${new Date(time * 1000).toISOString()}`;
}

function refuse(why: string): never {
  throw new ProofError("malformed_evidence", why);
}
