import { UserError } from "../root/user-error.ts";
import { COMMANDS } from "./all.ts";
import type { Run } from "./command.ts";
import { bashCompletion } from "./completion/bash.ts";
import { completionTable } from "./completion/completion-table.ts";
import { fishCompletion } from "./completion/fish.ts";
import { zshCompletion } from "./completion/zsh.ts";

const SHELLS: Readonly<Record<string, typeof bashCompletion>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** Prints a script for a shell, made of the table of commands. */
export const completion: Run = ({ terminal }, shell = "") => {
  const write = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (write === undefined)
    throw new UserError("usage", `completion takes ${Object.keys(SHELLS).join(", ")}, not "${shell}"`);
  terminal.block(write(completionTable(COMMANDS)).trimEnd());
  return Promise.resolve(0);
};
