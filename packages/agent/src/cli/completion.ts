import { UserError } from "../errors/user-error.ts";
import type { Command, Run } from "./command.ts";
import { bashCompletion } from "./completion/bash.ts";
import { completionTable } from "./completion/completion-table.ts";
import { fishCompletion } from "./completion/fish.ts";
import { zshCompletion } from "./completion/zsh.ts";

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
