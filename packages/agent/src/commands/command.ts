import type { Terminal } from "../terminal/terminal.ts";
import type { FlagName, Flags } from "./flags.ts";

/** 0: proven, or done. 1: it ran, and the data or the outcome is bad. 2: it could not run. 130: interrupted. */
export type ExitCode = 0 | 1 | 2 | 130;

/** One call of a command. */
export interface Call {
  readonly flags: Flags;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly terminal: Terminal;
  /** Fires at SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** Which of the two it was. */
  readonly stoppedBy: () => NodeJS.Signals | null;
}

/** A command of `attestore`, declared. Its implementation is loaded when it is called. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly FlagName[];
  /** Words after the name, for a command that has some: `show|clear`. */
  readonly argument?: { readonly form: string; readonly about: string };
  run(call: Call, argument: string | undefined): Promise<ExitCode>;
}
