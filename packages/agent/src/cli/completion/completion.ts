import { UserError } from "../../errors/user-error.ts";
import type { Command, Run } from "../invocation/command.ts";
import { bashCompletion } from "./bash.ts";
import { completionTable } from "./completion-table.ts";
import { fishCompletion } from "./fish.ts";
import { zshCompletion } from "./zsh.ts";

const SHELLS: Readonly<Record<string, typeof bashCompletion>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** Prints a completion script for a shell, generated from the table of commands. */
export const completionOf =
  (commands: readonly Command[]): Run =>
  ({ terminal }, shell = "") => {
    const write = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
    if (write === undefined)
      throw new UserError("usage", `completion takes ${Object.keys(SHELLS).join(", ")}, not "${shell}"`);
    terminal.block(write(completionTable(commands)).trimEnd());
    return Promise.resolve(0);
  };
