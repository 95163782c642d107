import type { LoggedEvent } from "./event-statement.ts";
import type { GenerationSummary } from "./pack-generations.ts";
import type { PackHeader } from "./manifest.ts";
import { notProven } from "./not-proven.ts";
import type { PackPolicy } from "./policy.ts";
import type { ScheduledRun } from "./scheduled-run.ts";
import { isReport, SourceTally, type TalliedStatement } from "./source-tally.ts";
import { acceptedChange } from "./accepted-change.ts";
import {
  type AcceptedChange,
  type EvidenceException,
  type EvidenceSummary,
  type Listed,
  MAX_LISTED,
  noRuns,
  type PolicyChange,
  type RunCount,
  type ScheduledTest,
  type SourceSummary,
} from "./summary.ts";

export interface TalliedReceipt {
  id: string;
  /** As in its leaf. */
  recordedAt: string;
  statement: TalliedStatement;
}

export interface TalliedEvent {
  id: string;
  recordedAt: string;
  actorId: string;
  event: LoggedEvent;
}

/**
 * Computes a pack's summary from its contents, given one at a time: first the backups before the
 * period, then receipts and events in log order, then the runs in theirs. Memory does not grow with
 * their number.
 */
export class EvidenceTally {
  readonly #header: PackHeader;
  readonly #policy: PackPolicy;
  readonly #generations: readonly GenerationSummary[];
  readonly #sources: Map<string, SourceTally>;
  readonly #tests = list<ScheduledTest>();
  readonly #exceptions = list<EvidenceException>();
  readonly #changes = list<PolicyChange>();
  readonly #accepted = list<AcceptedChange>();
  #receipts = 0;
  #events = 0;
  #missedUntold = 0;

  /** `generations` are the log's later ones. */
  constructor(header: PackHeader, policy: PackPolicy, generations: readonly GenerationSummary[] = []) {
    this.#header = header;
    this.#generations = generations;
    this.#policy = policy;
    this.#sources = new Map(
      policy.sources.map((source) => [source.id, new SourceTally(source, header.period.from)]),
    );
  }

  /** Whether a time of recording lies in the period. */
  isInPeriod(recordedAt: string): boolean {
    const { from, to } = this.#header.period;
    return recordedAt >= from && recordedAt < to;
  }

  addBackupBefore(statement: TalliedStatement): void {
    this.#sources.get(statement.predicate.source_id)?.addBackupBefore(statement);
  }

  addReceipt({ id, recordedAt, statement }: TalliedReceipt): void {
    const { predicate } = statement;
    this.#receipts += 1;
    this.#sources.get(predicate.source_id)?.addReceipt(statement, recordedAt);
    if ("result" in predicate && predicate.result === "failed")
      add(this.#exceptions, {
        at: recordedAt,
        source_id: predicate.source_id,
        what: "restore_test_failed",
        id,
      });
  }

  addEvent(tallied: TalliedEvent): void {
    const { id, recordedAt, actorId, event } = tallied;
    const { kind, source_id = null, detail } = event;
    this.#events += 1;
    if (kind === "change_accepted") add(this.#accepted, acceptedChange(tallied));
    if (isReport(kind)) {
      this.#sources.get(source_id ?? "")?.addReport(kind);
      add(this.#exceptions, { at: recordedAt, source_id, what: kind, id });
    }
    if (kind === "source_configured" || kind === "source_removed")
      add(this.#changes, {
        at: recordedAt,
        source_id,
        event_id: id,
        actor_id: actorId,
        kind,
        changed: changedNames(detail),
      });
  }

  addRun(run: ScheduledRun): void {
    const { source_id, kind, scheduled_at, status, receipt_id, event_id } = run;
    this.#sources.get(source_id)?.addRun(run);
    if (kind === "restore_test") add(this.#tests, { source_id, scheduled_at, status, receipt_id });
    if (status !== "missed") return;
    if (event_id === null) this.#missedUntold += 1;
    add(this.#exceptions, { at: scheduled_at, source_id, what: `${kind}_missed`, id: event_id });
  }

  finish(): EvidenceSummary {
    const { period, exported_at, log } = this.#header;
    const end = period.to < exported_at ? period.to : exported_at;
    const sources = [...this.#sources.values()]
      .map((source) => source.finish(period.from, end))
      .filter((source) => source !== null);
    const facts = {
      v: 1 as const,
      org: this.#policy.org,
      period,
      exported_at,
      log: { ...log, entries_in_period: this.#receipts + this.#events },
      ...(this.#generations.length === 0 ? {} : { generations: [...this.#generations] }),
      totals: {
        sources: sources.length,
        receipts: this.#receipts,
        events: this.#events,
        backups: sum(sources, ({ backups }) => backups),
        restore_tests: {
          passed: sum(sources, ({ restore_tests }) => restore_tests.passed),
          failed: sum(sources, ({ restore_tests }) => restore_tests.failed),
        },
        scheduled_restore_tests: sumRuns(sources.map((source) => source.scheduled_restore_tests)),
        scheduled_backups: sumRuns(sources.map((source) => source.scheduled_backups)),
      },
      sources,
      scheduled_restore_tests: this.#tests,
      exceptions: this.#exceptions,
      policy_changes: this.#changes,
      ...(this.#accepted.items.length === 0 ? {} : { accepted_changes: this.#accepted }),
    };
    return { ...facts, not_proven: notProven(facts, { missedUntold: this.#missedUntold }) };
  }
}

/** The text of summary.json. */
export function formatSummary(summary: EvidenceSummary): string {
  return `${JSON.stringify(summary, null, 2)}\n`;
}

const list = <Item>(): Listed<Item> => ({ items: [], omitted: 0 });

function add<Item>(to: Listed<Item>, item: Item): void {
  if (to.items.length < MAX_LISTED) to.items.push(item);
  else to.omitted += 1;
}

/** The changed members of `before`; none for a removal. */
function changedNames(detail: Record<string, unknown>): string[] {
  const before = detail["before"];
  return typeof before === "object" && before !== null ? Object.keys(before).toSorted() : [];
}

function sum(sources: readonly SourceSummary[], of: (source: SourceSummary) => number): number {
  return sources.reduce((total, source) => total + of(source), 0);
}

function sumRuns(counts: readonly RunCount[]): RunCount {
  const total = noRuns();
  for (const count of counts)
    for (const name of Object.keys(total) as (keyof RunCount)[]) total[name] += count[name];
  return total;
}
