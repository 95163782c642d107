import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";

const checkout = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** The Node that the product is run with, whichever one runs the tests. */
const NODE = checkout("node_modules/.bin/node");

const SOURCES = {
  "attestore-server": checkout("packages/orchestrator/src/main.ts"),
  attestore: checkout("packages/agent/src/main.ts"),
  "attestore-verify": checkout("packages/verifier/src/main.ts"),
};

export type Program = keyof typeof SOURCES;
export type Environment = Record<string, string | undefined>;

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcess;
  /** All that it has printed so far, both streams. */
  talk: () => string;
  finished: Promise<Finished>;
}

/** Halves the start of every program; Node checks the sources that it cached. */
const CACHE = process.env["NODE_COMPILE_CACHE"] ?? checkout("node_modules/.cache/compiled");

const bundled: Partial<Record<Program, string>> = {};

/** For what vitest does not run: from now on, a program is started from this file. */
export function startFrom(program: Program, file: string): void {
  bundled[program] = file;
}

/**
 * Tests have all of them in a few files each, but for those of what ships; benchmarks and tools,
 * which vitest does not run, have not.
 */
function mainOf(program: Program): string {
  const file = bundled[program];
  if (file !== undefined) return file;
  if (process.env["VITEST"] === undefined) return SOURCES[program];
  if (program === "attestore-server") return (inject("service") as string | undefined) ?? SOURCES[program];
  return inject("programs")[program];
}

/** Without the settings of the shell that runs the tests. */
function environment(extra: Environment): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("ATTESTORE_") && name !== "DATABASE_URL" && !name.startsWith("VITEST"),
  );
  return { ...Object.fromEntries(inherited), NODE_ENV: undefined, NODE_COMPILE_CACHE: CACHE, ...extra };
}

export function start(program: Program, args: string[], env: Environment = {}, cwd?: string): Running {
  const child = spawn(NODE, [mainOf(program), ...args], {
    env: environment(env),
    stdio: ["ignore", "pipe", "pipe"],
    ...(cwd === undefined ? {} : { cwd }),
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const talk = (): string => stdout + stderr;
  const ended = once(child, "close").then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    stdout,
    stderr,
  }));
  const finished = Promise.race([ended, staysAfterSignal(child, [program, ...args].join(" "), talk)]);
  return { child, talk, finished };
}

/**
 * Rejects if the process is still there so long after the first signal that it was sent; without
 * this, a test that waits for its end would say nothing but that it took too long.
 */
function staysAfterSignal(child: ChildProcess, command: string, talk: () => string): Promise<never> {
  const kill = child.kill.bind(child);
  let timer: NodeJS.Timeout | undefined;
  child.once("close", () => clearTimeout(timer));
  return new Promise((_, reject) => {
    child.kill = (signal) => {
      timer ??= setTimeout(() => {
        kill("SIGKILL");
        reject(new Error(`${command} was still there ${STAYS_S} s after ${signal}:\n${talk()}`));
      }, STAYS_S * 1000);
      return kill(signal);
    };
  });
}

const STAYS_S = 120;
/** Far beyond what any command of a test takes on a busy machine. */
const RUNS_S = 400;

/** Runs one of the programs to its end, as a person would in a shell. */
export async function run(
  program: Program,
  args: string[],
  env: Environment = {},
  cwd?: string,
): Promise<Finished> {
  const { child, talk, finished } = start(program, args, env, cwd);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`${program} ${args.join(" ")} ran for ${RUNS_S} s without an end:\n${talk()}`));
    }, RUNS_S * 1000);
  });
  try {
    return await Promise.race([finished, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs a program that has to succeed, and reads what it prints as JSON. */
export async function runJson<T>(program: Program, args: string[], env: Environment = {}): Promise<T> {
  const { code, stdout, stderr } = await run(program, [...args, "--json"], env);
  if (code !== 0)
    throw new Error(`${program} ${args.join(" ")} --json: exit code ${code}\n${stdout}${stderr}`);
  return JSON.parse(stdout) as T;
}
