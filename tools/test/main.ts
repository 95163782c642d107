/**
 * `npm test`: installs what the tests need, then format, lint, types and the tests, but not the
 * files that take long, `*.long.test.ts`. `npm run test:all` runs those too; a release needs it.
 * Prints one closing line, `N passed, N failed`; a skipped test counts as failed, because a test
 * that silently did not run is worse than none.
 *
 * `npm test -- unit e2e` runs only the named steps.
 */
import { spawn, spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunReport } from "./project-report.ts";
import { directoryInMemory, discard } from "./temporary-directory.ts";
import { committedState, rememberTested } from "./tested.ts";

interface Count {
  passed: number;
  failed: number;
}

const isAll = process.argv.includes("--all");
const wanted = process.argv.slice(2).filter((argument) => argument !== "--all");

const CHECKS: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ["format", "oxfmt", "--check", "."],
  ["lint", "oxlint", "--deny-warnings"],
  ["lint", "node", "tools/layers/main.ts"],
  ["types", "tsc", "-p", "."],
];
const SET_UP = "setup";
const PROJECTS = ["unit", "browser", "interop", "e2e", "chaos"];
/** Builds what ships, and all its files take long. */
const PACKAGING = "packaging";
const LONG = "**/*.long.test.ts";
const ROOT = join(import.meta.dirname, "../..");

// Tests start our programs some thousand times, and a third of each start is spent on compiling the
// same sources.
process.env["NODE_COMPILE_CACHE"] ??= join(ROOT, "node_modules/.cache/compiled");

if (isAll) {
  PROJECTS.push(PACKAGING);
  // Some tests do a thing oftener.
  process.env["TEST_ALL"] = "1";
}
const names = [...new Set([SET_UP, ...CHECKS.map(([name]) => name), ...PROJECTS])];
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  const hint = unknown.includes(PACKAGING) ? `npm run test:all has ${PACKAGING}. ` : "";
  process.stderr.write(`no such step: ${unknown.join(", ")}. ${hint}Steps: ${names.join(", ")}\n`);
  process.exit(2);
}
const before = committedState(ROOT);
const isWanted = (name: string): boolean => wanted.length === 0 || wanted.includes(name);

const total: Count = { passed: 0, failed: 0 };
const lines: string[] = [];
// What scrolled by is far up at the end of the run, or cut off.
const failures: string[] = [];

function add(name: string, { passed, failed }: Count, seconds: string): void {
  const result = failed === 0 ? "ok    " : "FAILED";
  lines.push(`${result} ${name.padEnd(9)} ${passed} passed, ${failed} failed  ${seconds}`);
  total.passed += passed;
  total.failed += failed;
}

function program(command: string, args: readonly string[], env = process.env): boolean {
  const { status, error } = spawnSync(command, args, { stdio: "inherit", env });
  if (error) process.stderr.write(`${command}: ${error.message}\n`);
  return status === 0;
}

/** Side by side: tsc keeps one core busy, and leaves the other one. */
async function runChecks(checks: readonly (readonly string[])[]): Promise<void> {
  await Promise.all(
    checks.map(async ([name = "", command = "", ...args]) => {
      const started = performance.now();
      const { isGreen, said } = await programSaying(command, args);
      process.stdout.write(`\n== ${name}: ${command} ${args.join(" ")}\n${said}`);
      add(name, { passed: Number(isGreen), failed: Number(!isGreen) }, `${secondsSince(started)} s`);
    }),
  );
}

async function programSaying(
  command: string,
  args: readonly string[],
): Promise<{ isGreen: boolean; said: string }> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => void (said += text));
  return new Promise((resolve) => {
    child.once("error", ({ message }) => resolve({ isGreen: false, said: `${command}: ${message}\n` }));
    child.once("close", (code) => resolve({ isGreen: code === 0, said }));
  });
}

if (isWanted(SET_UP)) {
  process.stdout.write(`\n== ${SET_UP}\n`);
  const started = performance.now();
  const isGreen = program("tools/setup", [isAll ? "test-all" : "test"]);
  add(SET_UP, { passed: Number(isGreen), failed: Number(!isGreen) }, `${secondsSince(started)} s`);
}
await runChecks(CHECKS.filter(([name]) => isWanted(name)));

/**
 * All projects in one run: where one has nothing but its last long file to do, the others have the
 * rest of the machine.
 */
function runTests(projects: readonly string[]): void {
  process.stdout.write(`\n== ${projects.join(", ")}\n`);
  const inMemory = directoryInMemory();
  if (inMemory !== null) process.env["TMPDIR"] = inMemory;
  const directory = mkdtempSync(join(tmpdir(), "attestore-report-"));
  const path = join(directory, "report.json");
  const started = performance.now();
  const isGreen = program(
    "vitest",
    [
      "run",
      // Those of "unit" are two.
      ...projects.flatMap((name) => ["--project", `${name}*`]),
      ...(isAll ? [] : ["--exclude", LONG]),
      "--reporter=default",
      "--reporter=./tools/test/project-report.ts",
    ],
    { ...process.env, TEST_REPORT: path },
  );
  const report = readReport(path);
  const failedBefore = total.failed;
  rmSync(directory, { recursive: true, force: true });
  if (inMemory !== null) discard(inMemory);
  for (const name of projects) {
    const files = report.files.filter(({ project }) => stepOf(project) === name);
    const sum = (of: "passed" | "failed" | "seconds"): number =>
      files.reduce((all, file) => all + file[of], 0);
    // A file that cannot be loaded, a hook that throws and a project without tests have no failed
    // test and are not green.
    const isBroken =
      files.length === 0 || files.some(({ failed, failures: texts }) => failed === 0 && texts.length > 0);
    const count = { passed: sum("passed"), failed: sum("failed") + Number(isBroken) };
    add(name, count, `${sum("seconds").toFixed(1)} s of ${files.length} files side by side`);
    failures.push(...files.flatMap((file) => file.failures));
  }
  failures.push(...report.errors);
  const isUntold = !isGreen && total.failed === failedBefore && report.errors.length === 0;
  add("tests", { passed: 0, failed: Number(isUntold) + report.errors.length }, `${secondsSince(started)} s`);
}

/**
 * What runs in a browser has the browser's name after its own, "browser (chromium)", and one of two
 * its kind: "unit (isolated)".
 */
function stepOf(project: string): string {
  return project.replace(/ \(.*$/, "");
}

function readReport(path: string): RunReport {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as RunReport;
  } catch {
    return { files: [], errors: ["vitest ended without a report"] };
  }
}

function secondsSince(started: number): string {
  return ((performance.now() - started) / 1000).toFixed(1);
}

const projects = PROJECTS.filter(isWanted);
if (projects.length > 0) runTests(projects);
for (const failure of failures) process.stdout.write(`\nFAILED ${failure}\n`);
process.stdout.write(`\n${lines.join("\n")}\n\n`);
if (!isAll && projects.length > 0) {
  const left = globSync(LONG, { cwd: ROOT, exclude: ["node_modules"] });
  process.stdout.write(`not run: ${left.length} files that take long. npm run test:all runs them too\n`);
}
if (isAll && wanted.length === 0 && total.failed === 0) rememberTested(ROOT, before);
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 ? 0 : 1;
