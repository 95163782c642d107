import type { PackPolicy, ScheduledRun } from "@attestore/proof";
import type { CheckedEntry } from "./check-entries.ts";
import type { Findings } from "../findings.ts";

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
 * younger than its first entry in the log. Memory has a number of each source.
 */
export class SourceTraces {
  readonly #policy: PackPolicy;
  readonly #bodiesUntil: string;
  /** When the log first mentions each source, or Infinity; milliseconds since 1970. */
  readonly #first = new Map<string, number>();
  readonly #removedAt: ReadonlyMap<string, string | null>;
  /** Sources whose removal the log has at the time in policy.json. */
  readonly #told = new Set<string>();

  constructor(policy: PackPolicy, bodiesUntil: string) {
    this.#policy = policy;
    this.#bodiesUntil = bodiesUntil;
    this.#removedAt = new Map(policy.sources.map(({ id, removed_at }) => [id, removed_at]));
  }

  addEntry(entry: CheckedEntry): void {
    if ("statement" in entry) {
      this.#see(entry.statement.predicate.source_id, Date.parse(entry.recordedAt));
      return;
    }
    const { leaf, event } = entry.bundle;
    if (event.source_id === undefined) return;
    this.#see(event.source_id, Date.parse(leaf.recorded_at));
    if (leaf.kind === "source_removed" && this.#removedAt.get(event.source_id) === event.occurred_at)
      this.#told.add(event.source_id);
  }

  addRun({ source_id }: ScheduledRun): void {
    this.#see(source_id, Infinity);
  }

  /**
   * Sources whose removal the log has at the time in policy.json, and those whose removal it could
   * not have yet.
   */
  removed(): Set<string> {
    const end = Date.parse(this.#bodiesUntil) - LATE_MS;
    return new Set(
      this.#policy.sources.flatMap(({ id, removed_at }) =>
        removed_at !== null && (this.#told.has(id) || Date.parse(removed_at) >= end) ? [id] : [],
      ),
    );
  }

  check(findings: Findings): void {
    const { sources } = this.#policy;
    if (this.#removedAt.size !== sources.length)
      findings.fail("schedules", "policy.json names a source twice");
    for (const id of this.#first.keys())
      if (!this.#removedAt.has(id))
        findings.fail("schedules", `policy.json leaves out ${id}, but the pack has entries for it`);

    for (const { id, slug, created_at } of sources)
      if ((this.#first.get(id) ?? Infinity) < Date.parse(created_at) - CLOCKS_MS)
        findings.leaveOpen(
          "summary",
          `${slug} is listed as created at ${created_at}, from when its recovery point counts, but the log has it earlier`,
        );

    const removed = this.removed();
    for (const { id, slug, removed_at } of sources)
      if (removed_at !== null && removed_at < this.#bodiesUntil && !removed.has(id))
        findings.fail("schedules", `the log does not show that ${slug} was removed at ${removed_at}`);
  }

  #see(id: string, at: number): void {
    this.#first.set(id, Math.min(at, this.#first.get(id) ?? Infinity));
  }
}
