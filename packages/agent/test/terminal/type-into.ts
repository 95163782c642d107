import { execFileSync } from "node:child_process";
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
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("ATTESTORE_"));
  return execFileSync(
    "python3",
    [
      join(import.meta.dirname, "type-into.py"),
      JSON.stringify(dialogue),
      process.execPath,
      inject("programs").attestore,
      ...args,
    ],
    { encoding: "utf8", env: { ...Object.fromEntries(own), ...env } },
  );
}
