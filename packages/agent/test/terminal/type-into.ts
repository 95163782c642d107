import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { inject } from "vitest";

/**
 * `attestore` on a terminal of its own, with a person who types a line at each question. @returns
 * what the terminal showed, and `exit CODE` at its end
 */
export function typeInto(
  dialogue: readonly (readonly [question: string, line: string])[],
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string {
  return execFileSync("python3", onTerminal(dialogue, args), { encoding: "utf8", env: withoutOwn(env) });
}

/** The same with a person who answers nothing, until they close the terminal. */
export function startOnTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): { hangUp: () => Promise<void> } {
  const child = spawn("python3", onTerminal([], args), { stdio: "ignore", env: withoutOwn(env) });
  return {
    hangUp: async () => {
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
    },
  };
}

function onTerminal(dialogue: unknown, args: readonly string[]): string[] {
  const script = join(import.meta.dirname, "type-into.py");
  return [script, JSON.stringify(dialogue), process.execPath, inject("programs").attestore, ...args];
}

function withoutOwn(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("ATTESTORE_"));
  return { ...Object.fromEntries(own), ...env };
}
