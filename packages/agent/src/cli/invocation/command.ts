import type { CommandHelp } from "@attestore/host/command-help";
import type { FlagName } from "../../config/flag-table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { FoundRoot } from "./find-root.ts";
import type { Flags } from "./flags.ts";

/**
 * 0: proven, or done. 1: it ran, and the data or the result is bad. 2: it could not run. 130:
 * interrupted.
 */
export type ExitCode = 0 | 1 | 2 | 130;

/** One call of a command. */
export interface Call {
  /** Includes `defaults:` of the root's config.yaml, for every command. */
  readonly flags: Flags;
  readonly root: FoundRoot;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly terminal: Terminal;
  /** Fires on SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** Which of the two it was. */
  readonly stoppedBy: () => NodeJS.Signals | null;
}

export type Run = (call: Call, ...words: readonly (string | undefined)[]) => Promise<ExitCode>;

export interface Word {
  readonly form: string;
  readonly about: string;
}

/** The declaration of a command of `attestore`. Its code is loaded when it is called. */
export interface Command extends CommandHelp {
  /** For a command of a group, both words: `source add`. */
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly FlagName[];
  /** The words that may follow the name: `[show|clear]`. */
  readonly words?: readonly Word[];
  /** Whether it can be called without a root. */
  readonly makesRoot?: boolean;
  readonly load: () => Promise<Run>;
}
