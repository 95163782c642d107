import { plural } from "@attestore/proof";
import { timeOfId } from "@attestore/contract";
import { readTestable } from "../journal/testable-backups.ts";
import type { Layout } from "../state/layout.ts";
import { restoreTestsSince } from "./receipt-history.ts";

const DAY_MS = 24 * 3600 * 1000;
/** The claim is about backups at least this old, */
const OLDER_THAN_DAYS = 30;
/** and about tests within this number of days. */
const WITHIN_DAYS = 90;
const WANTED = 0.95;

/** Which of a source's backups were tested, and how likely draws at this rate are to reach each. */
export interface Coverage {
  /** When this host last asked which backups are kept. */
  readonly at: string;
  readonly kept: number;
  /** Of those at least 30 days old. */
  readonly older_than_30_days: { readonly kept: number; readonly tested_within_90_days: number };
  readonly draws: {
    /** In 90 days, at the rate of the last 90. */
    readonly in_90_days: number;
    /** That a given backup is drawn within 90 days. */
    readonly each_probability: number;
    /** That every backup older than 30 days is; at least that. */
    readonly every_probability: number;
    /** How many draws in 90 days would reach each with probability 0.95. */
    readonly needed_for_each_0_95: number;
  } | null;
}

export interface Tested {
  readonly backupId: string;
  readonly at: string;
  readonly isDrawn: boolean;
}

/** Null if no restore test of the source has picked its backup. */
export async function readCoverage(
  layout: Layout,
  { slug, sourceId, now }: { slug: string; sourceId: string; now: number },
): Promise<Coverage | null> {
  const kept = await readTestable(layout, slug);
  if (kept === null) return null;
  const tests = await restoreTestsSince(layout, sourceId, now - WITHIN_DAYS * DAY_MS);
  return coverageOf({ at: kept.at, kept: kept.backup_ids, tests, now });
}

/** `tests` are those of the last 90 days. */
export function coverageOf(of: {
  readonly at: string;
  readonly kept: readonly string[];
  readonly tests: readonly Tested[];
  readonly now: number;
}): Coverage {
  const { at, kept, tests, now } = of;
  const older = kept.filter((id) => timeOfId(id) <= now - OLDER_THAN_DAYS * DAY_MS);
  const tested = new Set(tests.map(({ backupId }) => backupId));
  return {
    at,
    kept: kept.length,
    older_than_30_days: {
      kept: older.length,
      tested_within_90_days: older.filter((id) => tested.has(id)).length,
    },
    draws: drawsOf(
      tests.filter(({ isDrawn }) => isDrawn),
      { kept: kept.length, older: older.length, now },
    ),
  };
}

function drawsOf(
  drawn: readonly Tested[],
  { kept, older, now }: { kept: number; older: number; now: number },
): Coverage["draws"] {
  const first = Math.min(...drawn.map((each) => Date.parse(each.at)));
  if (kept === 0 || drawn.length < 2) return null;
  const days = Math.min(WITHIN_DAYS, Math.max(1, (now - first) / DAY_MS));
  const count = Math.round((drawn.length * WITHIN_DAYS) / days);
  const missed = (1 - 1 / kept) ** count;
  return {
    in_90_days: count,
    each_probability: rounded(1 - missed),
    // Boole's inequality: it holds however the draws of two backups depend on each other.
    every_probability: rounded(Math.max(0, 1 - older * missed)),
    needed_for_each_0_95: kept === 1 ? 1 : Math.ceil(Math.log(1 - WANTED) / Math.log(1 - 1 / kept)),
  };
}

/** Down, so that nothing is claimed that is not so. */
function rounded(probability: number): number {
  return Math.floor(probability * 100) / 100;
}

/** For people. */
export function coverageText({ older_than_30_days: older, draws, kept }: Coverage): string {
  const tested = `${older.tested_within_90_days} of ${plural(older.kept, "backup")} older than 30 days tested within 90 days`;
  if (draws === null) return tested;
  const { each_probability: each, every_probability: every } = draws;
  const needed =
    each >= WANTED
      ? ""
      : ` (${WANTED} takes ${plural(draws.needed_for_each_0_95, "draw")}, at this rate it is ${draws.in_90_days})`;
  return `${tested}; draws reach each of ${kept} within 90 days with probability ${each.toFixed(2)}, every one older than 30 days with ${every.toFixed(2)}${needed}`;
}
