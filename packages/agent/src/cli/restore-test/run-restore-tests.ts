import type { BackupBackend } from "../../backends/backup-backend.ts";
import type { Config } from "../../config/config.ts";
import type { SourceConfig } from "../../config/source-config.ts";
import { type Asked, type PlannedTest, planTests } from "./plan-tests.ts";
import type { RunOptions } from "../backup/run-backup.ts";
import { runRestoreTest, type PerformedRestoreTest } from "./run-restore-test.ts";

/** How far it came, for a report of what stopped it. */
export interface TestProgress {
  /** How many tests have their receipt. */
  signed: number;
  /** The one that runs. */
  backupId: string | undefined;
}

/**
 * Tests each backup that the source picks, one after the other. The first receipt answers the
 * service's command. A backup that fails does not keep the next one from being tested; what keeps
 * one from a result ends it. The caller holds the `work` lock.
 * @throws RunError, UserError or ServiceError if one of them has no result
 */
export async function* runRestoreTests(
  backend: BackupBackend,
  config: Config,
  source: SourceConfig,
  options: RunOptions & Asked & { readonly progress: TestProgress; onBegin?: (test: PlannedTest) => void },
): AsyncGenerator<PerformedRestoreTest> {
  const { progress, onBegin, commandId } = options;
  const { tests, failure } = await planTests(backend, config, source, options);
  for (const test of tests) {
    progress.backupId = test.backupId;
    onBegin?.(test);
    const isAnswered = progress.signed > 0;
    const tested = await runRestoreTest(backend, config, source, {
      ...options,
      ...test,
      commandId: isAnswered ? null : commandId,
    });
    progress.signed += 1;
    yield tested;
  }
  progress.backupId = undefined;
  if (failure !== null) throw failure;
}
