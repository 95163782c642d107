import type { Command } from "commander";
import { expect, test } from "vitest";
import { HELP } from "./help-texts.ts";
import { serverProgram } from "./program.ts";

const examples = Object.values(HELP).flatMap((help) => help.examples.map(([line]) => line));

/** The words of a call of the program; quotes keep several together. */
function wordsOf(line: string): string[] {
  const [, call = ""] = /(?<![/\w-])attestore-server ([^|>;&]*)/.exec(line) ?? [];
  return Array.from(call.matchAll(/"[^"]*"|'[^']*'|\S+/g), ([word]) => word.replace(/^["'](.*)["']$/, "$1"));
}

/** The command that the words begin with, and the others. */
function find(command: Command, words: readonly string[]): { command: Command; args: string[] } {
  const next = command.commands.find((one) => one.name() === words[0]);
  return next === undefined ? { command, args: [...words] } : find(next, words.slice(1));
}

test.each(examples)("an example of the help can be run as it is: %s", (line) => {
  const { command, args } = find(serverProgram([]), wordsOf(line));
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  const { operands, unknown } = command.parseOptions(args);
  expect(unknown).toEqual([]);
  const { registeredArguments } = command;
  const least = registeredArguments.filter(({ required }) => required).length;
  const most = registeredArguments.some(({ variadic }) => variadic) ? 99 : registeredArguments.length;
  expect(operands.length).toBeGreaterThanOrEqual(least);
  expect(operands.length).toBeLessThanOrEqual(most);
  for (const option of command.options.filter(({ mandatory }) => mandatory))
    expect(command.opts()).toHaveProperty(option.attributeName());
});
