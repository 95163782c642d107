import { type PackAgent, plural, type SourcePolicy } from "@attestore/proof";
import type { CheckedLine } from "../../outcome.ts";
import { type Comparable, generationOf, type NamedPack } from "./compare-overlaps.ts";

const MAX_NAMED = 10;
/** A source may have been made while the other pack was. */
const LATE_MS = 600_000;

type Told = NamedPack & { compared: Comparable };

/**
 * Checks that each pack has what another of the same log shows of its time: each source, the events
 * about agents' keys, and the last change of a source before the period. Nothing in a pack alone
 * misses a source that did nothing in its period.
 */
export function compareSettings(packs: readonly NamedPack[]): CheckedLine {
  const wrong: string[] = [];
  const open: string[] = [];
  const told = packs.filter((pack): pack is Told => pack.compared !== null).toSorted(byExport);
  for (const [n, one] of told.entries())
    for (const [m, other] of told.entries()) {
      // What a log has lost, the service may not know.
      if (n === m || generationOf(one) !== generationOf(other)) continue;
      const isLater = m > n;
      wrong.push(...sourcesOf(one, other, isLater), ...agentsOf(one, other, isLater));
      open.push(...changesOf(one, other));
    }
  const line = (result: CheckedLine["result"], detail: string): CheckedLine => ({
    id: "settings",
    title: "sources, their changes and agents' keys are the same in all packs",
    result,
    detail,
    hint: null,
  });
  if (wrong.length > 0) return line("failed", named(wrong));
  if (open.length > 0) return line("not_checked", named(open));
  return line("held", `compared in ${plural(told.length, "pack")}`);
}

function byExport({ manifest: a }: Told, { manifest: b }: Told): number {
  return a.log.tree_size - b.log.tree_size || (a.exported_at < b.exported_at ? -1 : 1);
}

/** A source that is no older than the other pack may be missing there. */
function sourcesOf(one: Told, other: Told, isLater: boolean): string[] {
  const known = new Map(other.compared.policy.sources.map((source) => [source.id, source]));
  const { exported_at, log } = other.manifest;
  const isOlder = ({ id, created_at }: SourcePolicy): boolean =>
    Date.parse(created_at) < Date.parse(exported_at) - LATE_MS ||
    one.compared.changes.some(({ sourceId, logIndex }) => sourceId === id && logIndex < log.tree_size);
  return one.compared.policy.sources.flatMap((its) => {
    const { id, slug, created_at, removed_at } = its;
    const source = known.get(id);
    if (source === undefined)
      return isLater || isOlder(its)
        ? [`the source ${id} (${slug}) of ${one.pack} is missing from ${other.pack}`]
        : [];
    if (!isLater) return [];
    if (source.created_at !== created_at)
      return [
        `${id} was created at ${created_at} in ${one.pack}, and at ${source.created_at} in ${other.pack}`,
      ];
    return removed_at === null || source.removed_at === removed_at
      ? []
      : [`${id} was removed at ${removed_at} in ${one.pack}, and not in ${other.pack}`];
  });
}

function agentsOf(one: Told, other: Told, isLater: boolean): string[] {
  const known = new Set(other.compared.agents.flatMap(eventsOf));
  const isOfOther = (id: string): boolean =>
    isLater || (one.compared.leaves.get(id)?.index ?? Infinity) < other.manifest.log.tree_size;
  return one.compared.agents.flatMap((agent) => {
    const missing = eventsOf(agent).find((id) => !known.has(id) && isOfOther(id));
    return missing === undefined
      ? []
      : [`${other.pack} lacks ${missing} about the keys of ${agent.id}, which ${one.pack} shows`];
  });
}

function eventsOf({ attached_event_id, revoked_event_id, earlier_keys }: PackAgent): string[] {
  const rotated = earlier_keys.map(({ rotated_event_id }) => rotated_event_id);
  return [attached_event_id, revoked_event_id, ...rotated].filter((id) => id !== null);
}

/** Where one pack goes up to the other's period, it shows which change was the last before that. */
function changesOf(one: Told, other: Told): string[] {
  const { period, log } = other.manifest;
  if (one.compared.bodiesUntil < period.from) return [];
  const has = new Set(other.compared.changes.map(({ id }) => id));
  const last = new Map(
    one.compared.changes
      .filter(({ recordedAt, logIndex }) => recordedAt < period.from && logIndex < log.tree_size)
      .toSorted((a, b) => a.logIndex - b.logIndex)
      .map((change) => [change.sourceId, change]),
  );
  return [...last.values()].flatMap(({ id, sourceId }) =>
    has.has(id)
      ? []
      : [`${other.pack} lacks ${id} of ${one.pack}, the last change of ${sourceId} before its period`],
  );
}

function named(all: readonly string[]): string {
  const more = all.length - MAX_NAMED;
  return all.slice(0, MAX_NAMED).join("; ") + (more > 0 ? `; and ${more} more` : "");
}
