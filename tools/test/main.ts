/**
 * `npm test`: installs what the tests need, then format, lint, types and every test project.
 * Prints one closing line, `N passed, N failed`; a skipped test counts as failed, because a test
 * that silently did not run is worse than none.
 *
 * `npm test -- unit e2e` runs only the named steps.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

interface Step {
  name: string;
  run: () => Count;
}

interface Count {
  passed: number;
  failed: number;
  /** What failed and why, for the end of the run: what scrolled by is far up then, or cut off. */
  failures?: string[];
}

/** The part of vitest's JSON report that is used. */
interface Report {
  numTotalTests: number;
  numPassedTests: number;
  testResults: {
    name: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}

// Tests start our programs some thousand times, and a third of each start is spent on compiling the same sources.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "../../node_modules/.cache/compiled");

const reports = mkdtempSync(join(tmpdir(), "attestore-test-"));

function program(command: string, ...args: string[]): boolean {
  const { status, error } = spawnSync(command, args, { stdio: "inherit" });
  if (error) process.stderr.write(`${command}: ${error.message}\n`);
  return status === 0;
}

function check(name: string, command: string, ...args: string[]): Step {
  return {
    name,
    run: () => (program(command, ...args) ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }),
  };
}

function tests(name: string): Step {
  return {
    name,
    run: () => {
      const report = join(reports, `${name}.json`);
      const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
      const green = program("vitest", "run", "--project", name, ...reporters);
      return count(report, green);
    },
  };
}

function count(report: string, green: boolean): Count {
  let read: Report;
  try {
    read = JSON.parse(readFileSync(report, "utf8")) as Report;
  } catch {
    return { passed: 0, failed: 1 };
  }
  const passed = read.numPassedTests;
  const failed = read.numTotalTests - passed;
  // A file that can't be loaded, or a project without tests, has no failed test and is not green.
  const nothingRan = passed + failed === 0;
  return { passed, failed: failed === 0 && (!green || nothingRan) ? 1 : failed, failures: failuresOf(read) };
}

function failuresOf({ testResults }: Report): string[] {
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(process.cwd(), name);
    const tests = assertionResults
      .filter(({ status }) => status !== "passed")
      .map(
        ({ fullName, status, failureMessages }) => `${file}: ${fullName}: ${failureMessages[0] ?? status}`,
      );
    return message === "" ? tests : [...tests, `${file}: ${message}`];
  });
}

const steps: Step[] = [
  check("setup", "tools/setup", "test"),
  check("format", "oxfmt", "--check", "."),
  check("lint", "oxlint", "--deny-warnings"),
  check("lint", "node", "tools/layers/main.ts"),
  check("types", "tsc", "-p", "."),
  tests("unit"),
  tests("browser"),
  tests("interop"),
  tests("e2e"),
  tests("packaging"),
  tests("chaos"),
];

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !steps.some((step) => step.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `no such step: ${unknown.join(", ")}. Steps: ${steps.map((step) => step.name).join(", ")}\n`,
  );
  process.exit(2);
}

const total: Count = { passed: 0, failed: 0 };
const lines: string[] = [];
const allFailures: string[] = [];
for (const step of steps) {
  if (wanted.length > 0 && !wanted.includes(step.name)) continue;
  process.stdout.write(`\n== ${step.name}\n`);
  const started = performance.now();
  const { passed, failed, failures = [] } = step.run();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  lines.push(
    `${failed === 0 ? "ok    " : "FAILED"} ${step.name.padEnd(8)} ${passed} passed, ${failed} failed  ${seconds} s`,
  );
  allFailures.push(...failures);
  total.passed += passed;
  total.failed += failed;
}
rmSync(reports, { recursive: true, force: true });
for (const failure of allFailures) process.stdout.write(`\nFAILED ${failure}\n`);
process.stdout.write(`\n${lines.join("\n")}\n\n${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 ? 0 : 1;
