import type { EventBundle, PackPolicy, ScheduledRun } from "@attestore/proof";
import type { CheckedEntries } from "./check-entries.ts";
import type { Findings } from "./findings.ts";

/**
 * The log records a removal a little after it happened. Shortly before the pack's end the entry may
 * be missing.
 */
const LATE_MS = 600_000;
/** The clock that made a source can differ from the one that dates the log. */
const CLOCKS_MS = 3_600_000;

/**
 * Checks that policy.json names each source of the pack's entries once, because an entry without a
 * source would be counted nowhere. Also checks that the log has the removal of each source that
 * policy.json calls removed, since nothing is expected of it from then on, and that no source is
 * younger than its first entry in the log.
 */
export function checkSources(
  findings: Findings,
  {
    policy,
    entries: { receipts, events },
    runs,
    bodiesUntil,
  }: { policy: PackPolicy; entries: CheckedEntries; runs: readonly ScheduledRun[]; bodiesUntil: string },
): void {
  const named = new Set(policy.sources.map(({ id }) => id));
  if (named.size !== policy.sources.length) findings.fail("schedules", "policy.json names a source twice");
  const mentioned = new Set([
    ...receipts.map(({ statement }) => statement.predicate.source_id),
    ...[...events.values()].flatMap(({ event }) => event.source_id ?? []),
    ...runs.map(({ source_id }) => source_id),
  ]);
  for (const id of mentioned)
    if (!named.has(id))
      findings.fail("schedules", `policy.json leaves out ${id}, but the pack has entries for it`);

  const first = firstRecorded({ receipts, events });
  for (const { id, slug, created_at } of policy.sources)
    if ((first.get(id) ?? Infinity) < Date.parse(created_at) - CLOCKS_MS)
      findings.leaveOpen(
        "summary",
        `${slug} is listed as created at ${created_at}, from when its recovery point counts, but the log has it earlier`,
      );

  const removed = removedSources(policy, events, bodiesUntil);
  for (const { id, slug, removed_at } of policy.sources)
    if (removed_at !== null && removed_at < bodiesUntil && !removed.has(id))
      findings.fail("schedules", `the log does not show that ${slug} was removed at ${removed_at}`);
}

/** When the log first mentions each source, as far as the pack shows; milliseconds since 1970. */
function firstRecorded({
  receipts,
  events,
}: Pick<CheckedEntries, "receipts" | "events">): Map<string, number> {
  const first = new Map<string, number>();
  const see = (id: string, at: string): void =>
    void first.set(id, Math.min(Date.parse(at), first.get(id) ?? Infinity));
  for (const { statement, recordedAt } of receipts) see(statement.predicate.source_id, recordedAt);
  for (const { event, leaf } of events.values())
    if (event.source_id !== undefined) see(event.source_id, leaf.recorded_at);
  return first;
}

/**
 * Sources whose removal the log has at the time in policy.json, and those whose removal it could
 * not have yet.
 */
export function removedSources(
  { sources }: PackPolicy,
  events: ReadonlyMap<string, EventBundle>,
  bodiesUntil: string,
): Set<string> {
  const told = new Set(
    [...events.values()]
      .filter(({ leaf }) => leaf.kind === "source_removed")
      .map(({ event }) => `${event.source_id} ${event.occurred_at}`),
  );
  const end = Date.parse(bodiesUntil) - LATE_MS;
  return new Set(
    sources.flatMap(({ id, removed_at }) =>
      removed_at !== null && (told.has(`${id} ${removed_at}`) || Date.parse(removed_at) >= end) ? [id] : [],
    ),
  );
}
