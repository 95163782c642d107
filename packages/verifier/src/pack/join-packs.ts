import { plural } from "@attestore/proof";
import type { CheckedLine, Verdict } from "../outcome.ts";
import { compareOverlaps, type NamedPack } from "./compare-overlaps.ts";
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
}

/**
 * Checks that packs of one organisation form a chain: one log without a fork, and periods without a
 * gap.
 */
export function joinPacks(outcomes: readonly PackOutcome[]): JoinedPacks[] {
  const known = outcomes.flatMap(({ pack, manifest, roots, compared }): Joined[] =>
    manifest === null || roots === null ? [] : [{ pack, manifest, roots, compared }],
  );
  return [...Map.groupBy(known, ({ manifest }) => manifest.org_id)]
    .filter(([, packs]) => packs.length > 1)
    .map(([org_id, packs]) => {
      const ordered = packs.toSorted((a, b) => (a.manifest.period.from < b.manifest.period.from ? -1 : 1));
      const checks = [oneLog(packs), periods(ordered), compareOverlaps(ordered)];
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
        if (other !== undefined && other !== root)
          return line(
            "failed",
            `${a.pack} and ${b.pack} have two roots for ${plural(size, "leaf", "leaves")}: the log was forked`,
          );
      }
  const bySize = packs.toSorted((a, b) => a.manifest.log.tree_size - b.manifest.log.tree_size);
  for (const [n, larger] of bySize.entries()) {
    const smaller = bySize[n - 1];
    if (smaller !== undefined && !larger.roots.has(smaller.manifest.log.tree_size))
      return line(
        "not_checked",
        `${larger.pack} does not connect to the ${plural(smaller.manifest.log.tree_size, "leaf", "leaves")} of ${smaller.pack}'s checkpoint: export both again, one after the other`,
      );
  }
  const sizes = bySize.map(({ manifest }) => manifest.log.tree_size);
  return line(
    "held",
    `each of the checkpoints of ${plural(sizes.join(", "), "leaf", "leaves")} is the beginning of the next`,
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
  return gaps.length > 0
    ? line("not_checked", `in none of the packs: ${gaps.join(", ")}${twice}`)
    : line("held", `${from} to ${until}${twice}`);
}

function lineOf(id: string, title: string) {
  return (result: CheckedLine["result"], detail: string): CheckedLine => ({
    id,
    title,
    result,
    detail,
    hint: null,
  });
}
