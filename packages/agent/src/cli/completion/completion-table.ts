import { FLAGS, takesValue } from "../../config/flag-table.ts";
import type { Command } from "../invocation/command.ts";

/** What may follow a flag, or stand in place of a word. */
export type Values = "nothing" | "anything" | "files" | "sources" | readonly string[];

export interface CompletedFlag {
  /** `--source`. */
  readonly name: string;
  readonly about: string;
  readonly values: Values;
}

export interface CompletedCommand {
  /** `["source", "add"]`. */
  readonly path: readonly string[];
  readonly about: string;
  readonly flags: readonly CompletedFlag[];
  readonly words: readonly Values[];
}

/** The parts of the table of commands that a shell needs. */
export function completionTable(commands: readonly Command[]): CompletedCommand[] {
  return commands.map(({ name, summary, flags, words = [] }) => ({
    path: name.split(" "),
    about: summary,
    flags: flags.map((flag) => {
      const { form, about } = FLAGS[flag];
      const [dashed = "", value = ""] = form.split(" ");
      return { name: dashed, about, values: takesValue(flag) ? valuesOf(flag, value) : "nothing" };
    }),
    words: words.map(({ form }) => wordsOf(name, form)),
  }));
}

function valuesOf(flag: string, form: string): Values {
  if (flag === "source") return "sources";
  return form === "<path>" || form === "<paths>" || form === "<dir>" ? "files" : "anything";
}

function wordsOf(command: string, form: string): Values {
  const bare = form.slice(1, -1);
  if (bare.includes("|")) return bare.split("|");
  const isSource = bare === "source" || (bare === "name" && command !== "source add");
  return isSource ? "sources" : "anything";
}

/** The first words with their summaries; each group appears once. */
export function firstWords(table: readonly CompletedCommand[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { path, about } of table) {
    const [first = ""] = path;
    if (path.length === 1) found.set(first, about);
    else found.set(first, [found.get(first), path[1]].filter(Boolean).join(", "));
  }
  return found;
}

/**
 * A command that prints the names of the sources, one per line. Without a root it prints nothing.
 */
export const LIST_SOURCES = "attestore source list 2>/dev/null | cut -d' ' -f1";
