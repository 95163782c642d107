import { readdir } from "node:fs/promises";
import {
  comparedContent,
  type ComparedContent,
  comparedContentText,
  type NotProvenBecause,
  emptyTables,
  namedNotCounted,
  notLookedAt,
  suspicionText,
  plural,
} from "@attestore/proof";
import { readRecoveryState, recoveryGap } from "../recovery/recovery-state.ts";
import { formatDuration } from "@attestore/host/amounts";
import type { Config } from "../config/config.ts";
import type { SourceConfig } from "../config/source-config.ts";
import type { Layout } from "../state/layout.ts";
import { isLocked } from "../state/lock.ts";
import { listReceipts } from "../receipts/receipt-files.ts";
import { lastClean, newestBackup, newestRestoreTest } from "../receipts/receipt-history.ts";
import { sourceProof } from "../receipts/source-proof.ts";
import { formatIdentity, readSourcePins } from "../receipts/source-pins.ts";
import { type Coverage, readCoverage } from "../receipts/coverage.ts";
import { readOpenDraw } from "../journal/open-draw.ts";
import { readLastHeartbeat } from "../backends/attached/heartbeat.ts";
import { readLogAlarm, type LogAlarm } from "../state/log-alarm.ts";
import { readSourceIds } from "../state/source-ids.ts";
import { listEvents } from "../receipts/spooled-event.ts";
import type { SourceCheck } from "../engines/engine.ts";
import { sourceCheckLines, sourceCheckOf } from "./source-check-lines.ts";
import { listPending } from "../journal/pending-backup.ts";

/**
 * `proven`, and why not, by the rule of packages/proof. `untested` also means that the newest
 * backup, or its proof, is too old to count.
 */
export type SourceVerdict = "proven" | "failed" | "untested" | "no_backup";

export interface SourceStatus {
  readonly source: string;
  readonly engine: string;
  readonly verdict: SourceVerdict;
  /** Null if it is proven. */
  readonly because: NotProvenBecause | null;
  readonly last_backup: { readonly id: string; readonly at: string; readonly size_bytes: number } | null;
  /** Against the objective in config.yaml; null without one. */
  readonly rpo: Rpo | null;
  /** What looking at the source itself found at the last backup; null if nobody looked. */
  readonly source_check: SourceCheck | null;
  readonly last_test: {
    readonly backup_id: string;
    readonly at: string;
    readonly result: "passed" | "failed";
    readonly reason: string | null;
    readonly checks: number;
    /** Tables whose rows nobody counted. */
    readonly not_counted: number;
    /** Their names, as far as they fit into the receipt. */
    readonly not_counted_tables: string | null;
    /** Tables or indexes of SQLite that the integrity check could not look at. */
    readonly not_checked: number;
    /** Their names, each with the reason. */
    readonly not_checked_names: string | null;
    /** Tables without rows in which no test saw any. */
    readonly empty: number;
    readonly empty_tables: string | null;
    /** What stands out from earlier tests, for people. */
    readonly suspicious: readonly string[];
    /** How far the tables' content was compared with the dump; null if it was not. */
    readonly content: ComparedContent | null;
    /** The same for people; null for a tree of files. */
    readonly content_text: string;
    /** Whether the receipt proves that nobody chose the backup. */
    readonly drawn: boolean;
  } | null;
  /** A draw without a result; `backup_id` is null until the log has decided it. */
  readonly open_draw: { readonly declared_at: string; readonly backup_id: string | null } | null;
  /** Null if no restore test has picked another backup than the newest. */
  readonly coverage: Coverage | null;
  /** The newest backup whose last test passed and found nothing suspicious. */
  readonly last_clean_backup: string | null;
}

export interface Rpo {
  readonly objective_s: number;
  /** How old the newest backup is; null without any. */
  readonly achieved_s: number | null;
  readonly met: boolean;
}

/** Something that is wrong, and the next step. */
export interface Problem {
  readonly what: string;
  readonly next: string;
}

export interface AgentStatus {
  readonly agent_id: string | null;
  readonly service: string | null;
  /** Where a standalone root stores its backups; null for an attached one. */
  readonly storage: string | null;
  readonly running: boolean;
  readonly last_heartbeat_at: string | null;
  readonly sources: readonly SourceStatus[];
  readonly waiting: { readonly backups: number; readonly receipts: number; readonly events: number };
  readonly problems: readonly Problem[];
  /** Problems that don't keep a source from being proven but need attention. */
  readonly advice: readonly Problem[];
}

/**
 * What this host knows about itself, only from its own files: fast, and the same when the service
 * is gone.
 */
export async function readAgentStatus(layout: Layout, config: Config): Promise<AgentStatus> {
  const ids = await readSourceIds(layout);
  const sources: SourceStatus[] = [];
  for (const source of config.sources.values())
    sources.push(await sourceStatus(layout, source, ids.get(source.slug)));
  const alarm = await readLogAlarm(layout);
  const running = isLocked(layout, "run");
  const heartbeat = await readLastHeartbeat(layout);
  const waiting = {
    backups: (await listPending(layout)).length,
    receipts: (await listReceipts(layout, "waiting")).length,
    events: (await listEvents(layout.eventsWaiting)).length,
  };
  return {
    agent_id: config.agent?.id ?? null,
    service: config.service?.url.origin ?? null,
    storage: storageOf(config),
    running,
    last_heartbeat_at: heartbeat?.at ?? null,
    sources,
    waiting,
    problems: [
      ...(await logProblems(layout, alarm)),
      ...(await spoolProblems(
        layout,
        { running, alarmed: alarm !== null, storage: storageOf(config) },
        waiting,
      )),
      ...(await pinProblems(layout, config)),
      ...sources.flatMap((source) => sourceProblems(source, alarm !== null)),
      ...sources.flatMap(rpoProblems),
      ...sources.flatMap(damageProblems),
    ],
    advice: [
      ...(await recoveryAdvice(layout, config)),
      ...sources.flatMap((each) => drawAdvice(each, config)),
      ...sources.flatMap(notLookedAdvice),
    ],
  };
}

async function sourceStatus(
  layout: Layout,
  { slug, engine, rpo_s }: SourceConfig,
  id: string | undefined,
): Promise<SourceStatus> {
  const now = Date.now();
  const backup = id === undefined ? null : await newestBackup(layout, id);
  const test = id === undefined ? null : await newestRestoreTest(layout, id);
  const last_test =
    test === null
      ? null
      : {
          backup_id: test.statement.predicate.backup_id,
          at: test.statement.predicate.finished_at,
          result: test.statement.predicate.result,
          reason: test.statement.predicate.reason ?? null,
          checks: test.statement.predicate.checks.length,
          not_counted: namedNotCounted(test.statement.predicate.checks).count,
          not_counted_tables: namedNotCounted(test.statement.predicate.checks).names,
          not_checked: notLookedAt(test.statement.predicate.checks).count,
          not_checked_names: notLookedAt(test.statement.predicate.checks).names,
          empty: emptyTables(test.statement.predicate.checks).count,
          empty_tables: emptyTables(test.statement.predicate.checks).names,
          suspicious: (test.statement.predicate.profile?.suspicious ?? []).map(suspicionText),
          content: comparedContent(test.statement.predicate.checks),
          content_text: comparedContentText(test.statement.predicate.checks),
          drawn: test.statement.predicate.draw !== undefined,
        };
  const last_backup =
    backup === null
      ? null
      : {
          id: backup.statement.predicate.backup_id,
          at: backup.statement.predicate.finished_at,
          size_bytes: backup.statement.predicate.size_bytes,
        };
  const source_check = backup === null ? null : sourceCheckOf(backup.statement.predicate.source_metadata);
  const because = id === undefined ? "never_backed_up" : await sourceProof(layout, id, { now, rpo_s });
  const verdict = because === null ? "proven" : VERDICTS[because];
  const open = id === undefined ? null : await readOpenDraw(layout, id);
  const open_draw =
    open === null ? null : { declared_at: open.declared_at, backup_id: open.decided?.backup_id ?? null };
  const coverage = id === undefined ? null : await readCoverage(layout, { slug, sourceId: id, now });
  const last_clean_backup = id === undefined ? null : await lastClean(layout, id);
  return {
    source: slug,
    engine,
    verdict,
    because,
    last_backup,
    rpo: rpoOf(last_backup, rpo_s, now),
    source_check,
    last_test,
    last_clean_backup,
    open_draw,
    coverage,
  };
}

const VERDICTS: Readonly<Record<NotProvenBecause, SourceVerdict>> = {
  never_backed_up: "no_backup",
  restore_test_failed: "failed",
  never_proven: "untested",
  proof_too_old: "untested",
  newest_not_proven: "untested",
};

/** The text after "backed up". */
function untestedText({ because, rpo }: Pick<SourceStatus, "because" | "rpo">): string {
  const age = rpo === null ? "36 hours" : formatDuration(rpo.objective_s * 1000);
  if (because === "proof_too_old") return "its last passed restore test is more than 7 days old";
  return because === "newest_not_proven"
    ? `its newest backup is not proven, and the last proven one is more than ${age} old`
    : "not proven";
}

function rpoOf(
  backup: SourceStatus["last_backup"],
  objective_s: number | undefined,
  now: number,
): Rpo | null {
  if (objective_s === undefined) return null;
  const achieved_s = backup === null ? null : Math.max(0, Math.round((now - Date.parse(backup.at)) / 1000));
  return { objective_s, achieved_s, met: achieved_s !== null && achieved_s <= objective_s };
}

/** Without any backup, there is another problem that says so. */
function rpoProblems({ source, rpo }: SourceStatus): Problem[] {
  if (rpo === null || rpo.met || rpo.achieved_s === null) return [];
  const [age, most] = [rpo.achieved_s, rpo.objective_s].map((seconds) => formatDuration(seconds * 1000));
  return [
    {
      what: `${source}: its newest backup is ${age} old, and may be at most ${most} old (objectives.rpo_s)`,
      next: `attestore backup --source ${source}`,
    },
  ];
}

function storageOf({ standalone }: Config): string | null {
  if (standalone === null) return null;
  const { storage } = standalone;
  return storage.kind === "directory" ? storage.path : `s3://${storage.s3.bucket}/${storage.s3.prefix}`;
}

/** During an alarm the agent signs nothing, so a proof must wait until the alarm is cleared. */
function sourceProblems(
  { source, verdict, because, rpo, last_test: test }: SourceStatus,
  alarmed: boolean,
): Problem[] {
  const after = (next: string): string => (alarmed ? `attestore alarm, and then: ${next}` : next);
  switch (verdict) {
    case "proven":
      return [];
    case "failed":
      return [
        {
          what:
            test?.result === "failed"
              ? `${source}: the last restore test FAILED (${test.reason ?? "a check did not hold"})`
              : `${source}: a restore test FAILED, and no backup at least that new has passed since`,
          next: after(`attestore backup --source ${source} && attestore restore-test --source ${source}`),
        },
      ];
    case "untested":
      return [
        {
          what: `${source}: backed up, ${untestedText({ because, rpo })}`,
          next: after(`attestore restore-test --source ${source}`),
        },
      ];
    case "no_backup":
      return [{ what: `${source}: no backup yet`, next: after(`attestore backup --source ${source}`) }];
  }
}

const ON_SOURCE_CHECK = "docs/engines.md#damage-at-the-source";

function damageProblems({ source, source_check: check }: SourceStatus): Problem[] {
  if (check === null || check.damaged === 0) return [];
  const [what = ""] = sourceCheckLines(source, { ...check, not_checked: 0 });
  return [{ what, next: `keep older backups, and see ${ON_SOURCE_CHECK}` }];
}

function notLookedAdvice({ source, source_check: check }: SourceStatus): Problem[] {
  if (check === null || check.not_checked === 0) return [];
  const [what = ""] = sourceCheckLines(source, { ...check, damaged: 0 });
  return [{ what, next: `see ${ON_SOURCE_CHECK}` }];
}

/** It stays until its backup has a result, so whoever reads the log will ask about it. */
function drawAdvice({ source, open_draw: open }: SourceStatus, { sources }: Config): Problem[] {
  if (open === null) return [];
  const what =
    open.backup_id === null
      ? `${source}: a draw was declared at ${open.declared_at}, and the log has not decided it`
      : `${source}: ${open.backup_id} was drawn at ${open.declared_at}, and its restore test has no result`;
  const again =
    sources.get(source)?.pick === "random" ? "" : "set restore_test: { pick: random } again, and: ";
  return [{ what, next: `${again}attestore restore-test --source ${source}` }];
}

async function pinProblems(layout: Layout, { sources }: Config): Promise<Problem[]> {
  const pins = [...(await readSourcePins(layout))].filter(
    ([slug, { met }]) => sources.has(slug) && met !== null,
  );
  return pins.map(([slug, pin]) => ({
    what:
      `${slug}: ALARM: this is not the pinned database (it is ${formatIdentity(pin.met?.identity ?? {})}, ` +
      `not ${formatIdentity(pin.accepted.at(-1)?.identity ?? {})})`,
    next: `check what ${slug} connects to; if it is right: attestore source confirm ${slug}`,
  }));
}

async function logProblems(layout: Layout, alarm: LogAlarm | null): Promise<Problem[]> {
  const problems: Problem[] = [];
  if (alarm !== null) {
    problems.push({
      what: `ALARM: the log contradicts a head that this agent has seen (${alarm.reason}); nothing is signed`,
      next: "attestore alarm",
    });
  }
  const unproven = (await readdir(layout.alarms)).filter((name) => name.endsWith(".json"));
  if (unproven.length > 0) {
    problems.push({
      what: `${unproven.length} answers of the service came without a valid proof`,
      next: `read ${layout.alarms} and ask the service's operator`,
    });
  }
  return problems;
}

async function spoolProblems(
  layout: Layout,
  {
    running,
    alarmed,
    storage,
  }: { readonly running: boolean; readonly alarmed: boolean; readonly storage: string | null },
  waiting: AgentStatus["waiting"],
): Promise<Problem[]> {
  const problems: Problem[] = [];
  const refused =
    (await listReceipts(layout, "refused")).length + (await listEvents(layout.eventsRefused)).length;
  if (refused > 0) {
    problems.push({
      what: `${plural(refused, "receipt or event was", "receipts or events were")} rejected by the service`,
      next: `read the .answer.json beside each in ${layout.receiptsRefused} and ${layout.eventsRefused}`,
    });
  }
  const total = waiting.backups + waiting.receipts + waiting.events;
  if (total > 0) {
    problems.push({
      what: `${plural(waiting.backups, "backup")}, ${plural(waiting.receipts, "receipt")} and ${plural(waiting.events, "event")} ${total === 1 ? "waits" : "wait"} for ${storage ?? "the service"}`,
      next: alarmed
        ? "attestore alarm: nothing is submitted until the alarm is cleared"
        : running
          ? "`attestore run` submits them; `attestore doctor` shows what blocks them"
          : "attestore sync",
    });
  }
  return problems;
}

async function recoveryAdvice(layout: Layout, config: Config): Promise<Problem[]> {
  const gap = recoveryGap(await readRecoveryState(layout), config.recipients);
  return gap === null ? [] : [gap];
}
