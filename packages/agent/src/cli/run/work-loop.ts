import { setTimeout as delay } from "node:timers/promises";
import { isDiskFull } from "@attestore/host/errno";
import { RunError } from "../../errors/run-error.ts";
import type { SourceConfig } from "../../config/source-config.ts";
import type { Config } from "../../config/config.ts";
import { UserError } from "../../errors/user-error.ts";
import { backoffDelay } from "../../transport/backoff.ts";
import { ServiceError } from "../../transport/service-error.ts";
import {
  finishCommand,
  markStarted,
  openCommands,
  type JournaledCommand,
} from "../../journal/command-journal.ts";
import { uploadAndRegister, isOfOneBackup } from "../../backends/attached/upload-and-register.ts";
import { listPending, type PendingBackup } from "../../journal/pending-backup.ts";
import { attachedBackend } from "../../backends/attached/attached-backend.ts";
import { runBackup, type RunOptions } from "../backup/run-backup.ts";
import { runRestoreTests, type TestProgress } from "../restore-test/run-restore-tests.ts";
import { INTERRUPTED, reportFailure } from "../../backends/report-failure.ts";
import { takeWorkLock } from "../invocation/work-lock.ts";
import type { LoopContext } from "./loop-context.ts";
import { ProgressReports } from "./progress-reports.ts";
import { diskFull } from "./transient-failure.ts";

const AFTER_FAILURE = { tries: Infinity, first_ms: 2_000, longest_ms: 5 * 60_000 };
const UNASKED_MS = 60_000;

/**
 * Runs the commands in the journal, one at a time, and delivers ciphertexts that are still on their
 * way.
 */
export async function workLoop(run: LoopContext): Promise<void> {
  const { signal } = run;
  let failures = 0;
  let complaints: Complaints = new Map();
  while (!signal.aborted) {
    let waiting: Waiting = { all: null, each: [] };
    let isFull = false;
    try {
      waiting = await deliverPending(run);
      for (const entry of await openCommands(run.attachment.layout)) {
        if (signal.aborted) return;
        isFull = entry.state === "received" && !(await runCommand(run, entry));
        if (isFull) break;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isDiskFull(error)) throw error;
      isFull = true;
    }
    const before = complaints;
    complaints = complaintsAbout(run, waiting.each, isFull);
    for (const [key, { reason, text }] of complaints) if (before.get(key)?.reason !== reason) run.say(text);

    const blocked = waiting.all ?? waiting.each[0]?.error;
    failures = blocked === undefined && !isFull ? 0 : failures + 1;
    const retryAfter_s = blocked instanceof ServiceError ? blocked.retryAfter_s : null;
    const wait_ms = failures === 0 ? UNASKED_MS : backoffDelay(AFTER_FAILURE, failures, retryAfter_s);
    await run.work.wait(wait_ms, signal);
  }
}

/** Each is reported once, not at every try, and again when its reason changes. */
type Complaints = ReadonlyMap<string, { readonly reason: string; readonly text: string }>;

/** The heartbeat reports that the service can't be reached. */
function complaintsAbout(run: LoopContext, refused: Waiting["each"], isFull: boolean): Complaints {
  const complaints = new Map<string, { reason: string; text: string }>();
  for (const { pending, error } of refused) {
    const text = `a backup of ${pending.source} is queued in blobs/${pending.sha256}.age: ${error.message}`;
    complaints.set(pending.sha256, { reason: withoutRequestId(error), text });
  }
  if (isFull) {
    const text = `commands are on hold: ${diskFull(run.attachment.layout)}`;
    complaints.set("full", { reason: "", text });
  }
  return complaints;
}

/** The same at each try, even if a refusal's message names the request. */
function withoutRequestId(error: ServiceError | UserError): string {
  return (error instanceof ServiceError ? error.refusal?.message : undefined) ?? error.message;
}

/** Why backups could not be delivered. */
interface Waiting {
  /** Why none of them can be. */
  readonly all: ServiceError | null;
  readonly each: readonly { readonly pending: PendingBackup; readonly error: ServiceError | UserError }[];
}

async function deliverPending(run: LoopContext): Promise<Waiting> {
  const { attachment, signal, say } = run;
  const { layout } = attachment;
  if ((await listPending(layout)).length === 0) return { all: null, each: [] };
  using _ = await takeWorkLock(layout, "run (upload)", { signal, wait: true, say });
  const config = await run.config();
  const each = [];
  for (const pending of await listPending(layout)) {
    try {
      const { backupId } = await uploadAndRegister(attachment, config, pending, { signal });
      say(`${backupId}: uploaded and registered`);
      run.spool.ring();
    } catch (error) {
      if (isOfOneBackup(error)) each.push({ pending, error });
      else if (error instanceof ServiceError) return { all: error, each };
      else throw error;
    }
  }
  return { all: null, each };
}

/** False if it could not even begin for lack of disk space: it stays in the journal. */
async function runCommand(run: LoopContext, received: JournaledCommand): Promise<boolean> {
  const { attachment, say } = run;
  const { layout } = attachment;
  const { command } = received;
  const { slug } = command.source;
  const what = `run (${command.kind} of ${slug})`;
  using _ = await takeWorkLock(layout, what, { signal: run.signal, wait: true, say });
  const config = await run.config();
  try {
    await markStarted(layout, received);
  } catch (error) {
    if (isDiskFull(error)) return false;
    throw error;
  }
  const progress: TestProgress = { signed: 0, backupId: command.params.backup_id };
  await using reports = new ProgressReports(attachment.service, command.id, run.signal);
  try {
    for await (const done of perform(run, config, command, { progress, onProgress: reports.update }))
      say(`${command.id}: ${done}`);
  } catch (error) {
    const stopped = run.signal.aborted;
    // The ciphertext is whole: the command continues when the service can be reached.
    const waits = (await listPending(layout)).some(({ command_id }) => command_id === command.id);
    if (waits && (stopped || error instanceof ServiceError)) {
      say(`${command.id}: the ciphertext is queued (${error instanceof Error ? error.message : "stopped"})`);
      return true;
    }
    const cause = stopped ? INTERRUPTED : error;
    const failure = {
      kind: command.kind === "backup" ? "backup_failed" : "restore_failed",
      source: slug,
      commandId: progress.signed > 0 ? null : command.id,
      backupId: progress.backupId,
      error: cause,
    } as const;
    await onceThereIsRoom(run, () => reportFailure(attachment, failure));
    const outcome = cause instanceof Error ? cause.message : "failed";
    await onceThereIsRoom(run, () => finishCommand(layout, command.id, outcome));
    say(`${command.id}: ${cause instanceof Error ? cause.message : "failed"}`);
    // A defect ends the agent, visibly, but not before its command is accounted for.
    const isKnown = cause instanceof RunError || cause instanceof UserError || cause instanceof ServiceError;
    if (!isKnown && !isDiskFull(cause)) throw cause;
  } finally {
    run.spool.ring();
  }
  return true;
}

/** On a full disk, tries again: a command without an outcome would count as interrupted. */
async function onceThereIsRoom(run: LoopContext, write: () => Promise<unknown>): Promise<void> {
  for (let failures = 1; ; failures++)
    try {
      await write();
      return;
    } catch (error) {
      if (!isDiskFull(error) || run.signal.aborted) throw error;
      if (failures === 1) run.say(`a failure is not reported yet: ${diskFull(run.attachment.layout)}`);
      const wait_ms = backoffDelay(AFTER_FAILURE, failures, null);
      await delay(wait_ms, undefined, { signal: run.signal }).catch(() => undefined);
    }
}

/** Yields the result, one text for each backup. */
async function* perform(
  run: LoopContext,
  config: Config,
  command: JournaledCommand["command"],
  { progress, onProgress }: { progress: TestProgress } & Pick<RunOptions, "onProgress">,
): AsyncGenerator<string> {
  const source = declaredSource(config, command.source.slug);
  const options = { commandId: command.id, signal: run.signal, onProgress };
  if (command.kind === "backup") {
    const { backupId } = await runBackup(attachedBackend(run.attachment), config, source, options);
    yield `backed up ${source.slug} as ${backupId}`;
    return;
  }
  const tests = runRestoreTests(attachedBackend(run.attachment), config, source, {
    ...options,
    backupId: command.params.backup_id,
    issuedAt: command.issued_at,
    progress,
  });
  for await (const { backupId, result, reason, isDrawn } of tests)
    yield `restore test of ${isDrawn ? "the drawn backup " : ""}${backupId} ${result}${reason === undefined ? "" : ` (${reason})`}`;
}

function declaredSource(config: Config, slug: string): SourceConfig {
  const source = config.sources.get(slug);
  if (source !== undefined) return source;
  throw new UserError("source_unknown", `this agent's config.yaml has no source "${slug}"`);
}
