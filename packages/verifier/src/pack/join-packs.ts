import { plural, toHex } from "@attestore/proof";
import type { CheckedLine, Verdict } from "../outcome.ts";
import type { CheckedGenerations } from "./log/check-generations.ts";
import { commonEntries, compareOverlaps, generationOf, type NamedPack } from "./overlaps/compare-overlaps.ts";
import { compareSettings } from "./overlaps/join-settings.ts";
import type { PackOutcome } from "./verify-pack.ts";

/** The joint result for several packs of one organisation. */
export interface JoinedPacks {
  org_id: string;
  /** Their given names, in the order of their periods. */
  packs: string[];
  verdict: Verdict;
  checks: CheckedLine[];
}

interface Joined extends NamedPack {
  roots: ReadonlyMap<number, string>;
  generations: CheckedGenerations;
}

/**
 * Checks that packs of one organisation form a chain: one log without a fork, and periods without a
 * gap.
 */
export function joinPacks(outcomes: readonly PackOutcome[]): JoinedPacks[] {
  const known = outcomes.flatMap(({ pack, manifest, roots, compared, generations }): Joined[] =>
    manifest === null || roots === null || generations === null
      ? []
      : [{ pack, manifest, roots, compared, generations }],
  );
  return [...Map.groupBy(known, ({ manifest }) => manifest.org_id)]
    .filter(([, packs]) => packs.length > 1)
    .map(([org_id, packs]) => {
      const ordered = packs.toSorted((a, b) => (a.manifest.period.from < b.manifest.period.from ? -1 : 1));
      const checks = [oneLog(packs), periods(ordered), compareOverlaps(ordered), compareSettings(ordered)];
      const results = checks.map(({ result }) => result);
      const isOpen = results.includes("not_checked") ? "cannot_tell" : "true";
      return {
        org_id,
        packs: ordered.map(({ pack }) => pack),
        verdict: results.includes("failed") ? "false" : isOpen,
        checks,
      };
    });
}

/**
 * Checks, with the leaves of the other pack, that each checkpoint's tree is the beginning of the
 * next larger one's.
 */
function oneLog(packs: readonly Joined[]): CheckedLine {
  const line = lineOf("one_log", "checkpoints are of one log that only grew");
  for (const a of packs)
    for (const b of packs)
      for (const [size, root] of a.roots) {
        const other = b.roots.get(size);
        if (other !== undefined && other !== root && size <= commonEntries(a, b))
          return line(
            "failed",
            `${a.pack} and ${b.pack} have two roots for ${plural(size, "leaf", "leaves")}: the log was forked`,
          );
      }
  const bySize = packs.toSorted(
    (a, b) => generationOf(a) - generationOf(b) || a.manifest.log.tree_size - b.manifest.log.tree_size,
  );
  const lost: string[] = [];
  for (const [n, larger] of bySize.entries()) {
    const smaller = bySize[n - 1];
    if (smaller === undefined) continue;
    const { tree_size, root_hash } = smaller.manifest.log;
    if (tree_size > commonEntries(smaller, larger)) {
      if (!isNamedLost(larger, smaller))
        return line(
          "not_checked",
          `the log of ${larger.pack} lost the head of ${plural(tree_size, "entry", "entries")}, root ${root_hash}, of ${smaller.pack}, and none of its events names that head: show ${smaller.pack} to the log's operator`,
        );
      lost.push(`${tree_size} of ${smaller.pack}`);
    } else if (!larger.roots.has(tree_size))
      return line(
        "not_checked",
        `${larger.pack} does not connect to the ${plural(smaller.manifest.log.tree_size, "leaf", "leaves")} of ${smaller.pack}'s checkpoint: export both again, one after the other`,
      );
  }
  const sizes = bySize.map(({ manifest }) => manifest.log.tree_size);
  const besides = lost.length === 0 ? "" : `; named as lost: ${lost.join(", ")}`;
  return line(
    "held",
    `each of the checkpoints of ${plural(sizes.join(", "), "leaf", "leaves")} is the beginning of the next${besides}`,
  );
}

/** Whether the later pack's log names the earlier one's checkpoint as lost, with its root. */
function isNamedLost({ generations }: Joined, { manifest: { log } }: Joined): boolean {
  return [...generations.rollbacks.flatMap(({ lost }) => lost), ...generations.lost].some(
    ({ origin, size, rootHash }) =>
      origin === log.origin && size === log.tree_size && toHex(rootHash) === log.root_hash,
  );
}

function periods(ordered: readonly Joined[]): CheckedLine {
  const line = lineOf("periods", "periods have no gap");
  const [gaps, overlaps]: [string[], string[]] = [[], []];
  let until = ordered[0]?.manifest.period.from ?? "";
  const from = until;
  for (const { manifest } of ordered) {
    const { period } = manifest;
    if (period.from > until) gaps.push(`${until} to ${period.from}`);
    if (period.from < until) overlaps.push(`${period.from} to ${period.to < until ? period.to : until}`);
    if (period.to > until) until = period.to;
  }
  const twice = overlaps.length > 0 ? `; in two packs: ${overlaps.join(", ")}` : "";
  if (gaps.length > 0) return line("not_checked", `in none of the packs: ${gaps.join(", ")}${twice}`);
  const uncounted = uncountedEntries(ordered);
  return uncounted === null
    ? line("held", `${from} to ${until}${twice}`)
    : line("not_checked", `${uncounted}${twice}`);
}

/**
 * Entries that the log took after a pack was made, or before its leaves begin, and dated within its
 * period: a pack of the time beside counts none of these either. Exported again, it has them.
 */
function uncountedEntries(packs: readonly Joined[]): string | null {
  const found = new Map<string, string>();
  for (const { compared } of packs)
    for (const { leaf } of compared?.otherLeaves ?? []) {
      const { id, kind, recorded_at } = leaf;
      const ofItsTime = packs.filter(
        (other) =>
          other.compared !== null &&
          recorded_at >= other.manifest.period.from &&
          recorded_at < other.manifest.period.to,
      );
      const [first] = ofItsTime;
      if (first !== undefined && !ofItsTime.some((other) => other.compared?.leaves.has(id)))
        found.set(id, `${kind} ${id} of ${recorded_at} is in no pack's count: export ${first.pack} again`);
    }
  if (found.size === 0) return null;
  const more = found.size - MAX_NAMED;
  return `${[...found.values()].slice(0, MAX_NAMED).join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}

const MAX_NAMED = 10;

function lineOf(id: string, title: string) {
  return (result: CheckedLine["result"], detail: string): CheckedLine => ({
    id,
    title,
    result,
    detail,
    hint: null,
  });
}
