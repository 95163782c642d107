import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * What takes long, by about how many seconds it takes beside five others. A file that begins late
 * and takes minutes leaves the second core with nothing to do at the end. A fresh checkout knows
 * of no earlier run, and by their size these could not be told.
 */
const LONGEST: Readonly<Record<number, readonly string[]>> = {
  200: [
    "packaging/test/release.long.test.ts",
    "tests/e2e/dev.long.test.ts",
    "packaging/test/installed.long.test.ts",
  ],
  100: [
    "packages/orchestrator/test/tenancy.test.ts",
    "packages/agent/test/standalone.test.ts",
    "packages/agent/test/runs/objects.long.test.ts",
    "packages/agent/test/runs/damage-postgresql.test.ts",
    "packages/agent/test/run.test.ts",
    "tests/chaos/replicas.test.ts",
    "packages/agent/test/commands.long.test.ts",
    "tests/e2e/dashboard/source-lists.long.test.ts",
    "tests/chaos/receipts.test.ts",
    "tests/e2e/agent-trouble.long.test.ts",
    "packages/agent/test/runs/content-of-many.long.test.ts",
    "packages/agent/test/runs/mongodb.long.test.ts",
    "packages/agent/test/runs/damage-dumps.long.test.ts",
    "packages/agent/test/runs/damage-files.long.test.ts",
    "packages/agent/test/pick.long.test.ts",
    "packages/agent/test/runs/hostile-bounds.long.test.ts",
    "tests/e2e/dashboard/people.long.test.ts",
    "tests/e2e/schemathesis.long.test.ts",
    "tests/e2e/agent-damage.long.test.ts",
    "packages/agent/test/losses.long.test.ts",
    "packages/agent/test/runs/postgresql.test.ts",
    "packages/agent/test/runs/postgresql-set.long.test.ts",
    "tests/e2e/agent-killed.long.test.ts",
    "packages/agent/test/rotate-signing.long.test.ts",
    "packages/agent/test/runs/mongodb-content.long.test.ts",
    "packages/agent/test/source-add.long.test.ts",
    "packages/agent/test/runs/databases-of-others/schemas.long.test.ts",
    "packages/agent/test/runs/databases-of-others/postgis.long.test.ts",
  ],
  50: [
    "packages/agent/test/runs/databases-of-others/django.long.test.ts",
    "packages/agent/test/runs/databases-of-others/mediawiki.long.test.ts",
    "packages/agent/test/runs/databases-of-others/wordpress.long.test.ts",
    "packages/agent/test/runs/existing-backups/dump-formats.long.test.ts",
    "packages/agent/test/runs/existing-backups/honest-postgresql.long.test.ts",
    "packages/agent/test/runs/existing-backups/hostile-sql.long.test.ts",
    "packages/agent/test/runs/existing-backups/restic-repository.test.ts",
    "packages/agent/test/containers/container-sandbox.long.test.ts",
    "packages/agent/test/suspicious.long.test.ts",
    "packages/agent/test/runs/profile.long.test.ts",
    "packages/orchestrator/src/service/serve.long.test.ts",
    "tests/e2e/dashboard/receipts.test.ts",
    "tests/e2e/dashboard/verify-page.long.test.ts",
    "tests/e2e/dashboard/log.long.test.ts",
    "tests/e2e/bad-input.long.test.ts",
    "tests/e2e/agent.test.ts",
    "tests/e2e/dashboard/attach.long.test.ts",
    "packages/orchestrator/src/service/installation.long.test.ts",
    "packages/agent/test/spool-crash.long.test.ts",
    "packages/orchestrator/src/cli/console.long.test.ts",
    "packages/orchestrator/src/service/procedures.long.test.ts",
    "tests/e2e/dashboard/home.test.ts",
    "packages/agent/src/engines/files/files.test.ts",
    "packages/orchestrator/src/log/archive/archive.test.ts",
    "tests/e2e/dodged-draws.long.test.ts",
    "packages/agent/src/engines/files/tar/attributes.test.ts",
    "tests/chaos/lost-tail.test.ts",
    "packages/agent/test/remote-config/files.long.test.ts",
    "packages/orchestrator/src/platform/objects/s3-client.test.ts",
    "tests/e2e/attach.long.test.ts",
    "tests/e2e/s3.long.test.ts",
    "packages/agent/test/killed.long.test.ts",
    "tests/e2e/receipts.test.ts",
    "tests/e2e/fuzz.long.test.ts",
    "tests/e2e/log.long.test.ts",
    "tests/e2e/uploads.long.test.ts",
    "packages/agent/test/runs/whole-runs.test.ts",
    "tests/interop/age.test.ts",
    "tests/e2e/heartbeat.long.test.ts",
    "packages/orchestrator/src/service/mail.long.test.ts",
    "packages/orchestrator/test/packaging/container.long.test.ts",
    "packages/agent/test/containers/mariadb-in-container.long.test.ts",
    "tests/e2e/lifecycle.long.test.ts",
    "tests/interop/recover.long.test.ts",
    "packaging/test/executables.long.test.ts",
    "packages/agent/test/keys.long.test.ts",
    "tests/e2e/interactive-attach.long.test.ts",
  ],
};
const EXPECTED_S = new Map(
  Object.entries(LONGEST).flatMap(([seconds, files]) => files.map((file) => [file, Number(seconds)])),
);
/** What is shorter takes its turn after those, whenever that is. */
const LONG_S = 30;

/**
 * The files that take long, the longest first, whichever project they belong to: as long as when
 * they last ran as a whole in this checkout, or as `LONGEST` says. Then all others. Those that
 * share processes come last and one after the other: a process ends when the next file is not for
 * it.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const places = new Map(files.map((file) => [file, this.#placeOf(file)]));
    const place = (file: TestSpecification): number => places.get(file) ?? 0;
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }

  /** Less than 0 for the long ones. */
  #placeOf(file: TestSpecification): number {
    const last = this.ctx.cache.getTestSpecificationResult(file);
    const last_s = last?.lastRun === undefined ? 0 : last.duration / 1000;
    // A run of this file alone was faster than it is beside others.
    const seconds = Math.max(last_s, EXPECTED_S.get(relative(this.ctx.config.root, file.moduleId)) ?? 0);
    if (seconds >= LONG_S) return -seconds;
    return file.project.config.isolate ? 0 : 1;
  }
}
