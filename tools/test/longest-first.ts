import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * What takes long, the longest first, as measured beside four others. A file that begins late and
 * takes minutes leaves the second core with nothing to do at the end. A fresh checkout knows of no
 * earlier run, and by their size these could not be told.
 */
const LONGEST = [
  "packages/orchestrator/src/service/serve.test.ts",
  "tests/e2e/dashboard/sources.test.ts",
  "tests/e2e/dashboard/people.test.ts",
  "packages/agent/test/runs/existing-backups.test.ts",
  "packages/agent/test/runs/checks.test.ts",
  "packages/agent/test/runs/mariadb.test.ts",
  "packages/agent/test/commands.test.ts",
  "tests/e2e/dashboard/receipts.test.ts",
  "packages/agent/test/run.test.ts",
  "packaging/test/release.test.ts",
  "tests/e2e/agent-trouble.test.ts",
  "tests/e2e/agent-damage.test.ts",
  "tests/e2e/bad-input.test.ts",
  "tests/e2e/agent.test.ts",
  "tests/chaos/receipts.test.ts",
  "tests/e2e/dashboard/attach.test.ts",
  "packages/orchestrator/test/tenancy.test.ts",
  "packages/orchestrator/src/service/installation.test.ts",
  "packages/agent/test/spool-crash.test.ts",
  "packaging/test/installed.test.ts",
  "packages/orchestrator/src/cli/console.test.ts",
  "packages/agent/test/rotate-signing.test.ts",
  "packages/orchestrator/src/service/procedures.test.ts",
  "tests/e2e/schemathesis.test.ts",
  "tests/e2e/dashboard/home.test.ts",
  "packages/agent/src/engines/files/files.test.ts",
  "tests/e2e/attach.test.ts",
  "tests/e2e/s3.test.ts",
  "packages/agent/test/killed.test.ts",
  "tests/e2e/evidence-pack.test.ts",
  "tests/e2e/receipts.test.ts",
  "tests/e2e/fuzz.test.ts",
  "packages/agent/test/containers/container-sandbox.test.ts",
  "packages/agent/test/runs/postgresql.test.ts",
  "packages/agent/test/standalone.test.ts",
  "tests/e2e/log.test.ts",
  "tests/e2e/uploads.test.ts",
  "packages/agent/test/runs/postgresql-set.test.ts",
  "packages/agent/test/runs/whole-runs.test.ts",
  "tests/interop/age.test.ts",
  "packages/agent/test/runs/mongodb.test.ts",
  "tests/e2e/heartbeat.test.ts",
  "packages/orchestrator/src/service/mail.test.ts",
  "packages/orchestrator/test/packaging/container.test.ts",
  "packages/agent/test/containers/mariadb-in-container.test.ts",
  "tests/e2e/agent-killed.test.ts",
  "tests/e2e/lifecycle.test.ts",
  "tests/interop/recover.test.ts",
  "packaging/test/executables.test.ts",
  "packages/agent/test/keys.test.ts",
  "tests/e2e/interactive-attach.test.ts",
];

/**
 * The files that take long, whichever project they belong to; then all others, the largest first.
 * Those that share processes come last and one after the other: a process ends when the next file
 * is not for it.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification): number => {
      const known = LONGEST.indexOf(relative(this.ctx.config.root, moduleId));
      if (known !== -1) return known;
      return project.config.isolate ? LONGEST.length : LONGEST.length + 1;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
