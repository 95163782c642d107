import { formatDuration } from "../terminal/amounts.ts";
import { CouldNotRun } from "../runs/could-not-run.ts";
import { ServiceError } from "../service/service-error.ts";
import type { Run } from "./command.ts";
import { chosenSource, openHome } from "./open-root.ts";
import { performRestoreTest } from "./perform-restore-test.ts";
import { sayFate } from "./say-fate.ts";
import { takeWorkLock } from "./work-lock.ts";

export const restoreTest: Run = async (call) => {
  const { terminal, signal } = call;
  const root = await openHome(call);
  const { home, config, layout, flags } = root;
  const source = chosenSource(root);
  const backupId = flags.text("backup");
  const line = terminal.progress();
  try {
    let tested;
    {
      using _ = await takeWorkLock(layout, "restore-test", {
        signal,
        wait: flags.isOn("wait", true),
        say: terminal.say,
      });
      terminal.say(`Restoring ${backupId ?? `the newest backup of ${source.slug}`} into a throw-away place.`);
      tested = await performRestoreTest(home, config, source, {
        backupId,
        commandId: null,
        signal,
        onProgress: line.update,
      });
    }
    line.clear();
    const fate = await home.settle(tested.receipt, signal);
    const passed = tested.result === "passed";
    if (flags.isOn("json")) {
      terminal.data(
        JSON.stringify({
          result: tested.result,
          reason: tested.reason ?? null,
          backup_id: tested.backupId,
          source: source.slug,
          runtime: tested.runtime,
          phases: tested.phases ?? null,
          checks: tested.checks,
          started_at: tested.startedAt,
          finished_at: tested.finishedAt,
          receipt: fate.state,
          receipt_id: fate.receiptId,
          log_index: fate.logIndex,
          receipt_file: fate.file,
        }),
      );
    } else {
      const { good, bad, faint } = terminal.onData;
      for (const check of tested.checks) {
        const mark = check.result === "passed" ? good("✓") : bad("✗");
        terminal.data(`${mark} ${check.id}  ${check.expectation}  ${faint(JSON.stringify(check.observed))}`);
      }
      const took = formatDuration(Date.parse(tested.finishedAt) - Date.parse(tested.startedAt));
      terminal.data(
        passed
          ? `${good("PASSED")}  ${tested.backupId} restores (${took})`
          : `${bad("FAILED")}  ${tested.backupId}: ${tested.reason ?? "a check failed"} (${took})`,
      );
      sayFate(terminal, fate);
      terminal.say(`Verify it without us: attestore-verify ${fate.file} --key ${layout.publicKey}`);
    }
    if (!passed) return 1;
    return fate.isWrong ? 2 : 0;
  } catch (error) {
    line.clear();
    const couldNotRun =
      (error instanceof CouldNotRun && error.code !== "interrupted") ||
      (error instanceof ServiceError && error.code === "object_refused");
    if (couldNotRun) {
      await home.reportFailure(
        {
          kind: "restore_failed",
          source: source.slug,
          commandId: null,
          backupId,
          error,
        },
        signal,
      );
    }
    throw error;
  } finally {
    home.close();
  }
};
