import { readdir } from "node:fs/promises";
import { formatDuration } from "../terminal/times.ts";
import { formatBytes, plainLine, plural, shellWord } from "@attestore/proof";
import { storageMissing } from "../../backends/standalone/storage-in-place.ts";
import type { Config } from "../../config/config.ts";
import { readFollowed } from "../../log/followed-generations.ts";
import { listReceipts } from "../../receipts/receipt-files.ts";
import { formatIdentity, readSourcePins } from "../../receipts/source-pins.ts";
import { listEvents } from "../../receipts/spooled-event.ts";
import { readRecoveryState, recoveryGap } from "../../recovery/recovery-state.ts";
import { freeSpace, REMOUNT } from "../../state/free-space.ts";
import type { Layout } from "../../state/layout.ts";
import type { LogAlarm } from "../../state/log-alarm.ts";
import { sourceCheckLines } from "../outcome/source-check-lines.ts";
import type { SourceStatus } from "./source-status.ts";

/** How much this host has not delivered yet. */
export interface Waiting {
  readonly backups: number;
  readonly receipts: number;
  readonly events: number;
}

/** Something that is wrong, and the next step. */
export interface Problem {
  readonly what: string;
  readonly next: string;
}

/** The text after "backed up". */
function untestedText({ because, rpo }: Pick<SourceStatus, "because" | "rpo">): string {
  const age = rpo === null ? "36 hours" : formatDuration(rpo.objective_s * 1000);
  if (because === "proof_too_old") return "its last passed restore test is more than 7 days old";
  return because === "newest_not_proven"
    ? `its newest backup is not proven, and the last proven one is more than ${age} old`
    : "not proven";
}

export async function diskProblems(layout: Layout): Promise<Problem[]> {
  const { free, isFull, isReadOnly } = await freeSpace(layout);
  if (isReadOnly)
    return [
      {
        what: `${layout.root} is on a read-only file system, so no run can be recorded`,
        next: REMOUNT,
      },
    ];
  if (!isFull) return [];
  return [
    {
      what: `the disk of ${layout.root} is full (${formatBytes(free)} free), so no run can be recorded`,
      next: `make room there: df ${shellWord(layout.root)}`,
    },
  ];
}

/** Of a standalone root: backups cannot be restored from a storage that is not there. */
export async function storageProblems(layout: Layout, { standalone }: Config): Promise<Problem[]> {
  const missing = standalone === null ? null : await storageMissing(layout, standalone.storage);
  return missing === null ? [] : [{ what: missing, next: "attestore doctor" }];
}

/** Without any backup, there is another problem that says so. */
export function rpoProblems({ source, rpo }: SourceStatus): Problem[] {
  if (rpo === null || rpo.met || rpo.achieved_s === null) return [];
  const [age, most] = [rpo.achieved_s, rpo.objective_s].map((seconds) => formatDuration(seconds * 1000));
  return [
    {
      what: `${source}: its newest backup is ${age} old, and may be at most ${most} old (objectives.rpo_s)`,
      next: `attestore backup --source ${source}`,
    },
  ];
}

/** Until there is a newer backup. */
export function lostProblems(status: SourceStatus): Problem[] {
  const { source, lost_backups: lost } = status;
  const newest = newestLost(status);
  if (newest === null) return [];
  const others = lost.length === 1 ? "" : ` and ${lost.length - 1} more`;
  return [
    {
      what: `${source}: the service has no record of ${newest}${others}, so it cannot be restored through the service`,
      next:
        `attestore backup --source ${source} && attestore restore-test --source ${source}; ` +
        "to restore a lost one: docs/agent.md#a-log-that-lost-entries",
    },
  ];
}

/** The newest lost backup, if no backup came after it. */
function newestLost({ lost_backups: lost, last_backup: known }: SourceStatus): string | null {
  const newest = lost.toSorted().at(-1);
  return newest === undefined || (known !== null && known.id > newest) ? null : newest;
}

/** During an alarm the agent signs nothing, so a proof must wait until the alarm is cleared. */
export function sourceProblems(status: SourceStatus, alarmed: boolean): Problem[] {
  const { source, verdict, because, rpo, last_test: test } = status;
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
      if (newestLost(status) !== null) return [];
      return [{ what: `${source}: no backup yet`, next: after(`attestore backup --source ${source}`) }];
  }
}

const ON_SOURCE_CHECK = "docs/engines.md#damage-at-the-source";

export function damageProblems({ source, source_check: check }: SourceStatus): Problem[] {
  if (check === null || check.damaged === 0) return [];
  const [what = ""] = sourceCheckLines(source, { ...check, not_checked: 0 });
  return [{ what, next: `keep older backups, and see ${ON_SOURCE_CHECK}` }];
}

export function notLookedAdvice({ source, source_check: check }: SourceStatus): Problem[] {
  if (check === null || check.not_checked === 0) return [];
  const [what = ""] = sourceCheckLines(source, { ...check, damaged: 0 });
  return [{ what, next: `see ${ON_SOURCE_CHECK}` }];
}

/** It stays until its backup has a result, because readers of the log will ask about it. */
export function drawAdvice({ source, open_draw: open }: SourceStatus, { sources }: Config): Problem[] {
  if (open === null) return [];
  const what =
    open.backup_id === null
      ? `${source}: a draw was declared at ${open.declared_at}, and the log has not decided it`
      : `${source}: ${open.backup_id} was drawn at ${open.declared_at}, and its restore test has no result`;
  const again =
    sources.get(source)?.pick === "random" ? "" : "set restore_test: { pick: random } again, and: ";
  return [{ what, next: `${again}attestore restore-test --source ${source}` }];
}

export async function pinProblems(layout: Layout, { sources }: Config): Promise<Problem[]> {
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

export async function logProblems(layout: Layout, alarm: LogAlarm | null): Promise<Problem[]> {
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
      what: `${plural(unproven.length, "answer")} of the service came without a valid proof`,
      next: `read ${layout.alarms} and ask the service's operator`,
    });
  }
  return problems;
}

/** A log that lost entries: what this agent followed, for good. */
export async function generationAdvice(layout: Layout): Promise<Problem[]> {
  const { began } = await readFollowed(layout);
  const newest = began.at(-1);
  if (newest === undefined) return [];
  const { event, leaf } = newest;
  return [
    {
      what:
        `the log lost entries, and this agent followed to its generation ${began.length + 1} ` +
        `(${leaf.id} of ${leaf.recorded_at}, by ${plainLine(String(event.detail["by"]).slice(0, 100))}: ` +
        `${plainLine(String(event.detail["because"]).slice(0, 200))})`,
      next: "compare log_generation with that of other hosts: attestore status --json",
    },
  ];
}

export async function spoolProblems(
  layout: Layout,
  {
    running,
    alarmed,
    storage,
  }: { readonly running: boolean; readonly alarmed: boolean; readonly storage: string | null },
  waiting: Waiting,
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
      what: `${inWords(waiting)} ${total === 1 ? "waits" : "wait"} for ${storage ?? "the service"}`,
      next: alarmed
        ? "attestore alarm: nothing is submitted until the alarm is cleared"
        : running
          ? "`attestore run` submits them; `attestore doctor` shows what blocks them"
          : "attestore sync",
    });
  }
  return problems;
}

/** Only what there is. */
function inWords({ backups, receipts, events }: Waiting): string {
  const counts: [number, string][] = [
    [backups, "backup"],
    [receipts, "receipt"],
    [events, "event"],
  ];
  const parts = counts.flatMap(([count, one]) => (count === 0 ? [] : [plural(count, one)]));
  return [parts.slice(0, -1).join(", "), parts.at(-1)].filter((part) => part !== "").join(" and ");
}

export async function recoveryAdvice(layout: Layout, config: Config): Promise<Problem[]> {
  const gap = recoveryGap(await readRecoveryState(layout), config.recipients);
  return gap === null ? [] : [gap];
}
