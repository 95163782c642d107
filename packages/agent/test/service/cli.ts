import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { expect, inject } from "vitest";

export interface Finished {
  /** The exit code, or the name of the signal that ended it. */
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly finished: Promise<Finished>;
  /**
   * Resolves when what it has said so far contains the text; rejects if it ends without, or does
   * not say it in minutes.
   */
  said(text: string): Promise<void>;
}

/** Far beyond what a busy machine takes. */
const SAYS_WITHIN_MS = 300_000;

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string;
}

/**
 * `attestore` as a person's shell starts it, with nothing of this test's own ATTESTORE_* settings.
 */
export function startCli(args: readonly string[], { env = {}, cwd, stdin }: CliOptions = {}): Running {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("ATTESTORE_"));
  const child = spawn(process.execPath, [inject("programs").attestore, ...args], {
    env: { ...Object.fromEntries(own), ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on("error", () => undefined);
  child.stdin.end(stdin ?? "");
  const finished = once(child, "close").then(([code, signal]: unknown[]): Finished => ({
    code: (code ?? signal) as Finished["code"],
    stdout,
    stderr,
  }));
  const said = async (text: string): Promise<void> => {
    let isOver = false;
    void finished.then(() => (isOver = true));
    const late = pause(SAYS_WITHIN_MS, "late", { ref: false });
    while (!(stdout + stderr).includes(text)) {
      if (isOver) throw new Error(`it ended without saying "${text}":\n${stdout}${stderr}`);
      const news = [once(child.stdout, "data"), once(child.stderr, "data"), finished, late];
      if ((await Promise.race(news)) === "late")
        throw new Error(`it has not said "${text}" in ${SAYS_WITHIN_MS / 1000} s:\n${stdout}${stderr}`);
    }
  };
  return { process: child, finished, said };
}

export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<Finished> {
  return startCli(args, options).finished;
}

/** What a command with `--json` printed, which has to end with this exit code. */
export async function jsonOf<T = Record<string, unknown>>(running: Promise<Finished>, code = 0): Promise<T> {
  const done = await running;
  expect(done.code, `${done.stdout}${done.stderr}`).toBe(code);
  return JSON.parse(done.stdout) as T;
}
