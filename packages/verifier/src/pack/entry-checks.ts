import {
  EvidenceTally,
  generationSummaries,
  type EventBundle,
  type PackPolicy,
  type ScheduledRun,
} from "@attestore/proof";
import { GrowingNumbers } from "../compact/growing-numbers.ts";
import { Chains, linkOf } from "./entries/chains.ts";
import { ABOUT_AGENTS, type AgentEvents } from "./agents/check-agents.ts";
import { type CheckedEntry, idAt } from "./entries/check-entries.ts";
import type { CheckedEvent } from "./entries/check-event.ts";
import type { CheckedRange } from "./log/check-range.ts";
import { missedKind } from "./runs/check-runs.ts";
import { PolicyChanges } from "./runs/check-schedules.ts";
import type { PolicyChange } from "./overlaps/compare-overlaps.ts";
import { ContentCheck } from "./backups/content-check.ts";
import { DrawsCheck } from "./backups/draws-check.ts";
import { KeyUses } from "./entries/key-uses.ts";
import { keptDraw, keptStatement } from "./entries/kept-statement.ts";
import type { PackFiles } from "./files/pack-files.ts";
import type { PackLog } from "./log/pack-log.ts";
import { leavesAgain } from "./files/range-leaves.ts";
import { ReadAgain } from "./entries/read-again.ts";
import { RepeatedReceipts } from "./entries/repeated-receipts.ts";
import { RunDecisions } from "./runs/run-decisions.ts";
import { SameBackups } from "./backups/same-backups.ts";
import { SourceTraces } from "./entries/source-traces.ts";
import { UnsignedEvents } from "./entries/unsigned-events.ts";

/**
 * All checks of a pack's entries together. Each takes of an entry what it needs, as numbers, and
 * none keeps the entry: a pack may be larger than the memory.
 */
export class EntryChecks {
  readonly again: ReadAgain;
  readonly keyUses = new KeyUses();
  readonly words = new UnsignedEvents();
  readonly chains: Chains;
  readonly backups: SameBackups;
  readonly repeated: RepeatedReceipts;
  readonly content: ContentCheck;
  readonly draws: DrawsCheck;
  readonly decisions = new RunDecisions();
  readonly policyChanges: PolicyChanges;
  /** Where other packs are compared with this one. */
  readonly changes: PolicyChange[] = [];
  /** Null without a policy. */
  readonly counted: { tally: EvidenceTally; sources: SourceTraces } | null;
  readonly #aboutAgents = GrowingNumbers.uint32();
  readonly #missed = GrowingNumbers.uint32();
  readonly #files: PackFiles;
  readonly #range: CheckedRange["range"];
  readonly #isCompared: boolean;

  constructor(
    files: PackFiles,
    log: PackLog,
    { range, drawRoots, leaves }: CheckedRange,
    policy: PackPolicy | null,
  ) {
    const { rollbacks, lost } = log.generations;
    const again = new ReadAgain(files);
    this.again = again;
    this.#files = files;
    this.#range = range;
    this.policyChanges = new PolicyChanges(files.manifest.period.from);
    this.#isCompared = leaves !== null;
    this.chains = new Chains(this.idOf);
    this.backups = new SameBackups(this.idOf);
    this.repeated = new RepeatedReceipts(this.idOf);
    this.content = new ContentCheck(async (file) => keptStatement(await again.statementAt(file)));
    this.draws = new DrawsCheck(
      { logKey: log.key, rollbacks, roots: drawRoots, from: files.manifest.period.from, range },
      {
        idOf: this.idOf,
        eventAt: (file) => again.eventAt(file),
        drawAt: async (file) => keptDraw(await again.statementAt(file), log.key),
      },
    );
    this.counted =
      policy === null
        ? null
        : {
            tally: new EvidenceTally(files.manifest, policy, generationSummaries(rollbacks, lost)),
            sources: new SourceTraces(policy, range.bodies_until),
          };
  }

  /** The id of the receipt or event in a file. */
  readonly idOf = (file: number): string => idAt(this.#files, file) ?? "";

  /** As `checkEntries` gives them: first those from outside the range of bodies. */
  async see(entry: CheckedEntry): Promise<void> {
    this.keyUses.add(entry);
    const link = linkOf(entry);
    if (link !== null) this.chains.add(link);
    this.draws.add(entry);
    this.counted?.sources.addEntry(entry);
    this.#count(entry);
    if ("statement" in entry) {
      this.backups.add(entry);
      this.repeated.add(entry);
      this.decisions.add(entry);
      await this.content.add(entry);
      return;
    }
    const { file, bundle, isEarlier } = entry;
    this.again.addValid(file);
    this.words.add(entry);
    this.policyChanges.add(entry);
    this.#addChange(entry);
    if (ABOUT_AGENTS.includes(bundle.leaf.kind)) this.#aboutAgents.push(file);
    if (missedKind(bundle.leaf.kind) !== null && !isEarlier) this.#missed.push(file);
  }

  addRun(run: ScheduledRun): void {
    this.counted?.tally.addRun(run);
    this.counted?.sources.addRun(run);
  }

  /** The events about agents, read again. */
  agentEvents(): AgentEvents {
    return { all: () => this.#eventsAt(this.#aboutAgents), get: (id) => this.again.event(id) };
  }

  /** The events of the period that report missed runs, read again. */
  missedEvents(): AsyncGenerator<EventBundle> {
    return this.#eventsAt(this.#missed);
  }

  /**
   * SHA-256 of what agents signed, by the range's leaves up to the end of the pack's entries. What
   * the log took later was not there yet, whoever follows on it.
   */
  async *bodies(): AsyncGenerator<string> {
    const { bodies_until } = this.#range;
    for await (const { leaf } of leavesAgain(this.#files, this.#range))
      if (leaf.signature !== undefined && leaf.recorded_at < bodies_until) yield leaf.body_sha256;
  }

  #addChange({ id, logIndex, recordedAt, bundle: { leaf, event } }: CheckedEvent): void {
    const { source_id: sourceId } = event;
    if (this.#isCompared && leaf.kind === "source_configured" && sourceId !== undefined)
      this.changes.push({ id, sourceId, logIndex, recordedAt });
  }

  #count(entry: CheckedEntry): void {
    const tally = this.counted?.tally;
    if (tally === undefined) return;
    const { id, recordedAt, isEarlier } = entry;
    if (isEarlier && "statement" in entry) tally.addBackupBefore(entry.statement);
    if (isEarlier || !tally.isInPeriod(recordedAt)) return;
    if ("statement" in entry) tally.addReceipt(entry);
    else tally.addEvent({ id, recordedAt, actorId: entry.bundle.leaf.actor_id, event: entry.bundle.event });
  }

  async *#eventsAt(files: Iterable<number>): AsyncGenerator<EventBundle> {
    for (const file of files) yield await this.again.eventAt(file);
  }
}
