import { nearestName } from "@attestore/host/nearest-name";
import type { Command } from "./command.ts";

/** Flags of earlier versions, and their replacements. */
const REMOVED: Readonly<Record<string, string>> = {
  "--config":
    "--config was removed: the configuration is config.yaml in the root. Name the root with --root DIR or ATTESTORE_HOME.",
  "--state-dir":
    "--state-dir was removed: configuration, keys and state are in one directory, the root. Name it with --root DIR or ATTESTORE_HOME.",
};

/**
 * Explains why a command line makes no sense and what to do, if we can say more than a list of
 * everything.
 */
export function refuseUnknown(args: readonly string[], commands: readonly Command[]): string | null {
  for (const arg of args) {
    const removed = REMOVED[arg.split("=")[0] ?? ""];
    if (removed !== undefined) return removed;
  }
  // `help WORD` explains what `WORD` would run.
  const [first = "", second = ""] = args[0] === "help" ? args.slice(1) : args;
  const firsts = [...new Set(commands.map(({ name }) => name.split(" ")[0] ?? "")), "help"];
  if (/^[a-z]/.test(first) && !firsts.includes(first)) return unknown("command", first, firsts);
  const seconds = commands.flatMap(({ name }) =>
    name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : [],
  );
  if (seconds.length > 0 && /^[a-z]/.test(second) && ![...seconds, "help"].includes(second))
    return unknown(`command "${first}" with`, second, seconds);
  return null;
}

function unknown(what: string, typed: string, known: readonly string[]): string {
  const near = nearestName(typed, known);
  const hint = near === null ? `There are ${known.join(", ")}.` : `Did you mean "${near}"?`;
  return `there is no ${what} "${typed}". ${hint}`;
}
