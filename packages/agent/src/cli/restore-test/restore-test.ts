import { negativeControlLines, nextStep } from "../../checks/index.ts";
import { formatDuration } from "../terminal/times.ts";
import {
  comparedContentText,
  constraintsNotChecked,
  constraintsNotMet,
  indexesNotChecked,
  indexesUnfit,
  emptyTables,
  fewerObjects,
  namedNotCounted,
  notLookedAt,
  suspicionText,
  type Suspicion,
} from "@attestore/proof";
import type { ReceiptStatus } from "../../backends/backup-backend.ts";
import type { RecoveryTime } from "../../runs/recovery-time.ts";
import { RunError } from "../../errors/run-error.ts";
import { ServiceError } from "../../transport/service-error.ts";
import type { Call, Run } from "../invocation/command.ts";
import { chosenSource, configNow, openBackend, requireSource } from "../invocation/open-root.ts";
import type { PerformedRestoreTest } from "./run-restore-test.ts";
import { runRestoreTests } from "./run-restore-tests.ts";
import { reportFailureOrWarn } from "../outcome/report-failure-or-warn.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { countedNames, tablesText } from "../outcome/tables-text.ts";
import { printReceiptStatus } from "../outcome/print-receipt-status.ts";
import { verifyCommand } from "../outcome/verify-command.ts";
import { takeWorkLock } from "../invocation/work-lock.ts";

export const restoreTest: Run = async (call) => {
  const { terminal, signal } = call;
  const root = await openBackend(call);
  const { backend, layout, flags } = root;
  const source = chosenSource(root);
  const backupId = flags.text("backup");
  const line = terminal.progress();
  const progress = { signed: 0, backupId };
  const tested: PerformedRestoreTest[] = [];
  const codes: (0 | 1 | 2)[] = [];
  try {
    try {
      using _ = await takeWorkLock(layout, "restore-test", {
        signal,
        wait: flags.isOn("wait", true),
        say: terminal.say,
      });
      const config = await configNow(root);
      const tests = runRestoreTests(backend, config, requireSource({ config, layout }, source.slug), {
        backupId,
        issuedAt: null,
        commandId: null,
        signal,
        progress,
        onProgress: line.update,
        onBegin: ({ backupId: id, draw }) => {
          line.clear();
          const which = id === undefined ? `the newest backup of ${source.slug}` : id;
          terminal.say(`Restoring ${which}${draw === null ? "" : ", drawn by the log,"} into a sandbox.`);
        },
      });
      for await (const each of tests) tested.push(each);
    } finally {
      // The result is reported and submitted even if the next backup has none.
      line.clear();
      for (const each of tested) codes.push(await submitAndPrint(call, root, source.slug, each));
    }
    return codes.includes(1) ? 1 : codes.includes(2) ? 2 : 0;
  } catch (error) {
    line.clear();
    const couldNotRun =
      (error instanceof RunError && error.code !== "interrupted") ||
      (error instanceof ServiceError && error.code === "object_refused");
    if (couldNotRun) {
      await reportFailureOrWarn(
        backend,
        terminal,
        {
          kind: "restore_failed",
          source: source.slug,
          commandId: null,
          backupId: progress.backupId,
          error,
        },
        signal,
      );
    }
    throw error;
  } finally {
    backend.close();
  }
};

/** Submits the receipt, and prints the result. */
async function submitAndPrint(
  { terminal, signal }: Call,
  { backend, layout, flags }: Awaited<ReturnType<typeof openBackend>>,
  slug: string,
  tested: PerformedRestoreTest,
): Promise<0 | 1 | 2> {
  const submitted = await backend.submitReceipt(tested.receipt, signal);
  if (flags.isOn("json")) terminal.data(JSON.stringify(jsonOf(slug, tested, submitted)));
  else {
    describe(terminal, slug, tested, submitted);
    const verify = await verifyCommand(layout, submitted.file, submitted.state === "accepted");
    terminal.note(`To verify it without us: ${verify}`);
  }
  if (tested.result === "failed") return 1;
  return submitted.isWrong ? 2 : 0;
}

function jsonOf(source: string, tested: PerformedRestoreTest, submitted: ReceiptStatus) {
  return {
    result: tested.result,
    reason: tested.reason ?? null,
    backup_id: tested.backupId,
    drawn: tested.isDrawn,
    source,
    runtime: tested.runtime,
    phases: tested.phases ?? null,
    recovery: tested.checks.length === 0 ? null : recoveryOf(tested.recovery),
    checks: tested.checks,
    suspicious: tested.profile?.suspicious ?? [],
    started_at: tested.startedAt,
    finished_at: tested.finishedAt,
    receipt: submitted.state,
    receipt_id: submitted.receiptId,
    log_index: submitted.logIndex,
    receipt_file: submitted.file,
  };
}

/** `--json` and the receipt have digests whole. */
const DIGEST = /\b([0-9a-f]{8})[0-9a-f]{56}\b/g;

function describe(
  terminal: Terminal,
  slug: string,
  tested: PerformedRestoreTest,
  submitted: ReceiptStatus,
): void {
  const { good, bad, faint } = terminal.onData;
  for (const check of tested.checks) {
    const mark = check.result === "passed" ? good("✓") : bad("✗");
    const line = `${mark} ${check.id}  ${check.expectation}  ${faint(JSON.stringify(check.observed))}`;
    terminal.data(line.replaceAll(DIGEST, "$1…"));
  }
  for (const check of tested.checks)
    for (const told of negativeControlLines(check))
      terminal.data(`${terminal.onData.warn("!")} ${check.id} ${told}`);
  if (tested.checks.some(({ id }) => id === "inferred:reading"))
    terminal.data(
      `${terminal.onData.warn("!")} read twice: the first reading of the stored backup was damaged, the second was not. Something on the way changes bytes: look at the storage, the network and this host's memory`,
    );
  const notCounted = namedNotCounted(tested.checks);
  if (notCounted.count > 0)
    terminal.data(
      `${terminal.onData.warn("!")} not counted: the rows of ${tablesText(notCounted)}. All that is known is that they exist`,
    );
  const notLooked = notLookedAt(tested.checks);
  if (notLooked.count > 0)
    terminal.data(
      `${terminal.onData.warn("!")} not checked: ${tablesText(notLooked)}. SQLite here lacks what the application adds to it`,
    );
  const notMet = constraintsNotMet(tested.checks);
  if (notMet.count > 0)
    terminal.data(
      `${terminal.onData.warn("!")} rows break ${countedNames(notMet, "constraint")}. The source has them so, and they fail no test`,
    );
  const notEvaluated = constraintsNotChecked(tested.checks);
  if (notEvaluated.count > 0)
    terminal.data(
      `${terminal.onData.warn("!")} not checked: ${countedNames(notEvaluated, "constraint")}. There was no time, or PostgreSQL could not evaluate them`,
    );
  const unfit = indexesUnfit(tested.checks);
  if (unfit.count > 0)
    terminal.data(
      `${terminal.onData.warn("!")} do not fit their tables: ${countedNames(unfit, "index", "indexes")}. Queries that use them give wrong rows. The usual cause is a function that is declared immutable and is not: correct it at the source, run REINDEX there, and back up again`,
    );
  const unseen = indexesNotChecked(tested.checks);
  if (unseen.count > 0)
    terminal.data(
      `${terminal.onData.warn("!")} not checked with amcheck: ${countedNames(unseen, "index", "indexes")}`,
    );
  const empty = emptyTables(tested.checks);
  if (empty.count > 0)
    terminal.data(
      `${terminal.onData.warn("!")} empty: ${tablesText(empty)}. No test saw rows there, so nobody knows whether that is right`,
    );
  const fewer = fewerObjects(tested.checks);
  if (fewer !== null)
    terminal.data(
      `${terminal.onData.warn("!")} fewer objects than in the backup before: ${fewer}. If nobody dropped them on purpose, make them again at the source`,
    );
  const suspicious = tested.profile?.suspicious ?? [];
  for (const each of suspicious)
    terminal.data(`${terminal.onData.warn("! suspicious:")} ${suspicionText(each)}`);
  if (suspicious.length > 0) terminal.data(`  ${suspiciousStep(slug, suspicious)}`);
  if (tested.checks.length > 0) terminal.data(comparedContentText(tested.checks));
  const took = formatDuration(Date.parse(tested.finishedAt) - Date.parse(tested.startedAt));
  terminal.data(
    tested.result === "passed"
      ? `${good("PASSED")}  ${tested.backupId} restores${suspicious.length === 0 ? "" : ", but what it holds is suspicious"} (${took})`
      : `${bad("FAILED")}  ${tested.backupId}: ${tested.reason ?? "a check failed"} (${took})`,
  );
  if (tested.checks.length > 0) terminal.data(inWords(tested, terminal.onData));
  printReceiptStatus(terminal, submitted);
}

function suspiciousStep(slug: string, suspicious: readonly Suspicion[]): string {
  return nextStep([...new Set(suspicious.map(({ table }) => table))], slug);
}

function recoveryOf({ took_ms, rto_s, isMet }: RecoveryTime) {
  return { took_ms, rto_s, met: isMet };
}

/** How long the recovery took, phase by phase, and whether that was fast enough. */
function inWords(
  { phases, recovery: { took_ms, rto_s, isMet } }: PerformedRestoreTest,
  { warn, faint }: Terminal["onData"],
): string {
  const parts = (["download", "decrypt", "restore", "checks"] as const)
    .map((phase) => `${phase} ${formatDuration(phases?.[`${phase}_ms`] ?? 0)}`)
    .join(", ");
  const back = `Back in ${formatDuration(took_ms)}`;
  if (isMet === null || rto_s === null) return `${back}  ${faint(parts)}`;
  const rto = formatDuration(rto_s * 1000);
  return isMet
    ? `${back}, within the RTO of ${rto}  ${faint(parts)}`
    : `${warn("!")} ${back}, longer than the RTO of ${rto}  ${faint(parts)}`;
}
