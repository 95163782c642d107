import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * `attestore` on a terminal of its own, with a person who types a line at each question. @returns what the terminal showed, and
 * `exit CODE` at its end
 */
export function typeInto(
  dialogue: readonly (readonly [question: string, line: string])[],
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("ATTESTORE_"));
  return execFileSync(
    "python3",
    [here("type-into.py"), JSON.stringify(dialogue), process.execPath, here("../../src/main.ts"), ...args],
    { encoding: "utf8", env: { ...Object.fromEntries(own), ...env } },
  );
}
