import { Command } from "commander";
import { expect, test } from "vitest";
import { addCommandHelp, asksForAllCommands, groupCommands } from "./command-help.ts";

function program(all: boolean): string {
  const made = new Command("tool");
  for (const name of ["later", "second", "first", "added"]) made.command(name);
  const groups = [
    { heading: "Main:", commands: ["first", "second"] },
    { heading: "Further:", commands: ["later"] },
  ];
  groupCommands(made, groups, all);
  return made.helpInformation();
}

test("a program's help lists the main commands in the groups' order, and no others", () => {
  expect(program(false)).toMatch(/Main:\n {2}first.*\n {2}second/);
  expect(program(false)).not.toMatch(/later|added/);
});

test("with all, a program's help also lists the further commands, and those that are in no group", () => {
  expect(program(true)).toMatch(/Main:\n {2}first.*\n {2}second[^]*Further:\n {2}later.*\n {2}added/);
});

test("a command's help ends with its examples and its page of the documentation", () => {
  const command = addCommandHelp(new Command("copy"), {
    examples: [["tool copy a b", "copies a"]],
    page: "x.md#y",
  });
  let shown = "";
  command.configureOutput({ writeOut: (text) => (shown += text) }).outputHelp();
  expect(shown).toMatch(/Examples:\n {2}# copies a\n {2}tool copy a b\n/);
  expect(shown).toContain("Documentation: docs/x.md#y in the source");
});

test.each([
  [["help", "--all"], true],
  [["--help", "--all"], true],
  [["--all", "-h"], true],
  [["help"], false],
  [["help", "list", "--all"], false],
  [["list", "--all"], false],
  [["--all"], false],
  [[], false],
])("a call with %j wants every command listed: %s", (args, all) => {
  expect(asksForAllCommands(args)).toBe(all);
});
