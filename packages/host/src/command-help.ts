import type { Command } from "commander";

/** The parts of a command's help besides its summary and options. */
export interface CommandHelp {
  /** Lines for a shell, each with a description. */
  readonly examples: readonly (readonly [line: string, does: string])[];
  /** A page of docs/ with the heading to read: `agent.md#attach`. */
  readonly page: string;
}

/** A heading of a program's help, and the words below it, in order. */
export interface HelpGroup {
  readonly heading: string;
  readonly commands: readonly string[];
}

/** The last line of a help: where a page of docs/ is, with a heading in it. */
export function documentation(page: string): string {
  return `Documentation: docs/${page} in the source; packages have docs/ in /usr/share/doc/attestore`;
}

/** Adds examples and the place of its documentation to the end of a command's help. */
export function addCommandHelp(command: Command, { examples, page }: CommandHelp): Command {
  const lines = examples.flatMap(([line, does], at) => [
    ...(at === 0 ? [] : [""]),
    `  # ${does}`,
    `  ${line}`,
  ]);
  const shown = lines.length === 0 ? "" : `\nExamples:\n${lines.join("\n")}\n`;
  return command.addHelpText("after", `${shown}\n${documentation(page)}`);
}

/**
 * Puts a program's commands below headings, in the order of `groups`. The last group's commands,
 * and those that are in none, are listed only with `--all`.
 */
export function groupCommands(program: Command, groups: readonly HelpGroup[], all: boolean): void {
  const further = groups.at(-1);
  const place = new Map(
    groups.flatMap(({ heading, commands }) => commands.map((name) => [name, heading] as const)),
  );
  const order = [...place.keys()];
  const isHidden = (name: string): boolean =>
    !all && name !== "help" && (further?.commands.includes(name) === true || !place.has(name));
  for (const command of program.commands)
    command.helpGroup(place.get(command.name()) ?? further?.heading ?? "Commands:");
  program.configureHelp({
    // Commander's order of groups is that of the declarations.
    groupItems: (_all, visible, groupOf) => Map.groupBy(visible, groupOf),
    visibleCommands: () =>
      program.commands
        .filter((command) => !isHidden(command.name()))
        .toSorted((a, b) => rank(order, a.name()) - rank(order, b.name())),
  });
}

function rank(order: readonly string[], name: string): number {
  const at = order.indexOf(name);
  return at === -1 ? order.length : at;
}

/**
 * Whether a call wants every command of the program listed: `--help --all`, `help --all`. After a
 * command's name, `--all` is that command's.
 */
export function asksForAllCommands(args: readonly string[]): boolean {
  const first = args.findIndex((arg) => !arg.startsWith("-"));
  if (args[first] === "help") return args.length > 1 && args.slice(first + 1).every((arg) => arg === "--all");
  const before = first === -1 ? args : args.slice(0, first);
  return before.includes("--all") && before.some((arg) => arg === "--help" || arg === "-h");
}
