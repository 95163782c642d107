import type { HelpGroup } from "@attestore/host/command-help";
import type { Command } from "../invocation/command.ts";
import { BACK_UP_AND_PROVE } from "./back-up-and-prove.ts";
import { CHECKS_RECEIPTS_KEYS } from "./checks-receipts-keys.ts";
import { FURTHER } from "./further.ts";
import { SET_UP } from "./set-up.ts";

const COMPLETION: Command = {
  name: "completion",
  summary: "print the shell completion for commands, flags and sources",
  flags: ["root", "quiet", "verbose"],
  words: [{ form: "<bash|zsh|fish>", about: "the shell" }],
  examples: [['eval "$(attestore completion bash)"', "for this shell"]],
  page: "agent.md#commands",
  load: async () => (await import("../completion/completion.ts")).completionOf(COMMANDS),
};

/**
 * By their headings in the program's help; the last one's commands are listed only with `--all`.
 */
const HEADINGS: Readonly<Record<string, readonly Command[]>> = {
  "Set up:": SET_UP,
  "Back up and prove:": BACK_UP_AND_PROVE,
  "Checks, receipts, keys:": CHECKS_RECEIPTS_KEYS,
  "Further commands:": [...FURTHER, COMPLETION],
};

/** Every command. */
export const COMMANDS: readonly Command[] = Object.values(HEADINGS).flat();

/** For each group of commands, its summary and the command that its bare name runs. */
export const GROUPS: Readonly<Record<string, { readonly summary: string; readonly bare?: string }>> = {
  source: { summary: "what is backed up", bare: "list" },
  check: { summary: "checks of the restored data" },
  receipts: { summary: "the receipts on this host", bare: "list" },
  keys: { summary: "the keys of this root" },
};

/** The help's headings, each with the first words of its commands. */
export const HELP_GROUPS: readonly HelpGroup[] = Object.entries(HEADINGS).map(([heading, commands]) => ({
  heading,
  commands: [...new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""))],
}));
