/**
 * `npm run check`: format, lint, types and unit tests of what you changed since main, within a
 * minute. `npm run test:all` runs everything.
 *
 * To have it before each commit: git config core.hooksPath .githooks
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { changedFiles } from "./changed.ts";
import { testsOf } from "./tests-of.ts";

const { values } = parseArgs({
  options: { root: { type: "string", default: join(import.meta.dirname, "../..") } },
});
const { root } = values;
/** More would take longer than a minute. */
const TESTS_AT_MOST = 12;
const LAYERS = join(import.meta.dirname, "../layers/main.ts");

process.env["NODE_COMPILE_CACHE"] ??= join(root, "node_modules/.cache/compiled");
const started = performance.now();
const changed = changedFiles(root);
const sources = changed.filter((file) => /\.tsx?$/.test(file));
const tests = testsOf(root, changed);
const chosen = tests.filter((file) => !file.endsWith(".long.test.ts")).slice(0, TESTS_AT_MOST);
let failed = 0;

// Two at a time, for two cores.
await Promise.all([
  inOrder(
    () =>
      check("format", changed.length > 0, "oxfmt", "--check", "--no-error-on-unmatched-pattern", ...changed),
    () => check("lint", sources.length > 0, "oxlint", "--deny-warnings", ...sources),
    () => check("layers", sources.length > 0, "node", LAYERS, "--root", root),
  ),
  inOrder(() => check("types", sources.length > 0, "tsc", "-p", ".")),
]);
await check("tests", chosen.length > 0, "vitest", "run", "--project", "unit*", ...chosen);
for (const file of tests.filter((each) => !chosen.includes(each))) say(`not run: ${file}`);
say(
  `${changed.length} changed files, ${failed === 0 ? "all checks passed" : `${failed} of the checks failed`}, ${seconds(started)} s`,
);
process.exitCode = failed === 0 ? 0 : 1;

async function inOrder(...steps: (() => Promise<void>)[]): Promise<void> {
  for (const step of steps) await step();
}

/** Shows a program's output only if it failed. */
async function check(name: string, isNeeded: boolean, command: string, ...args: string[]): Promise<void> {
  if (!isNeeded) return;
  const from = performance.now();
  const child = spawn(join(root, "node_modules/.bin", command), args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let talk = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (talk += text));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) {
    failed += 1;
    say(talk.trimEnd());
  }
  say(`${code === 0 ? "ok    " : "FAILED"} ${name.padEnd(6)} ${seconds(from)} s`);
}

function seconds(from: number): string {
  return ((performance.now() - from) / 1000).toFixed(1);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
