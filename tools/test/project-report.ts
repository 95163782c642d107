import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

/**
 * What one file of tests came to. A project's files are told from another's: some run in two of
 * them.
 */
export interface FileReport {
  project: string;
  file: string;
  passed: number;
  /** Skipped ones too. */
  failed: number;
  seconds: number;
  /** One text for each test that failed, and for what kept the file from being loaded. */
  failures: string[];
}

export interface RunReport {
  files: FileReport[];
  /** What failed outside of any test. */
  errors: string[];
}

/** Writes a run's report as JSON to the file that TEST_REPORT names. */
export default class ProjectReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { message: string }[]): void {
    const path = process.env["TEST_REPORT"];
    if (path === undefined) throw new Error("TEST_REPORT names no file");
    const report: RunReport = {
      files: modules.map(fileReport),
      errors: unhandled.map(({ message }) => message),
    };
    writeFileSync(path, JSON.stringify(report));
  }
}

function fileReport(module: TestModule): FileReport {
  const file = relative(process.cwd(), module.moduleId);
  const tests = [...module.children.allTests()];
  const failed = tests.filter((test) => test.result().state !== "passed");
  // A suite's errors are those of its hooks.
  const around = [module, ...module.children.allSuites()].flatMap((suite) => suite.errors());
  return {
    project: module.project.name,
    file,
    passed: tests.length - failed.length,
    failed: failed.length,
    seconds: module.diagnostic().duration / 1000,
    failures: [
      ...failed.map((test) => {
        const { state, errors } = test.result();
        return `${file}: ${test.fullName}: ${errors?.[0]?.stack ?? errors?.[0]?.message ?? state}`;
      }),
      ...around.map((error) => `${file}: ${error.stack ?? error.message}`),
    ],
  };
}
