import { plainMessage } from "@attestore/proof";
import { Command, Option } from "commander";
import { logErrorAnswer } from "../features/submissions/log-error-answer.ts";
import { ApiError } from "../platform/errors/api-error.ts";
import { createStreamLogger, type LogLevel } from "../platform/logging/stream-logger.ts";
import { type Logger, silentLogger } from "../platform/logging/logger.ts";
import { type Console, openConsole } from "./console.ts";
import { type Outcome, printOutcome, type PrintOptions } from "./outcome.ts";

/** The options that every command has besides its own. */
export interface CommonOptions extends PrintOptions {
  verbose?: boolean;
}

/**
 * With --verbose, the lines that the service would write to its log; otherwise only those at least
 * as severe as `least`, and nothing without it.
 */
export function logOf({ verbose }: CommonOptions, least?: LogLevel): Logger {
  const level = verbose === true ? "debug" : least;
  return level === undefined ? silentLogger : createStreamLogger(process.stderr, level, "text");
}

/** A command that works on the service's database, whether or not the service runs. */
export function consoleCommand(name: string, summary: string): Command {
  return withExitCodes(
    new Command(name)
      .description(summary)
      .option("--json", "print JSON to stdout")
      .option("--quiet", "print only the result and errors")
      .addOption(new Option("--verbose", "also print each step").conflicts("quiet")),
  );
}

/** The word before the commands of one kind, as in `org add`. */
export function commandGroup(name: string, summary: string, commands: readonly Command[]): Command {
  const group = withExitCodes(new Command(name).description(summary));
  for (const command of commands) group.addCommand(command);
  return group;
}

/**
 * A wrong call ends with 2, a call for help with 0. Set on each command, because added commands
 * inherit nothing.
 */
export function withExitCodes(command: Command): Command {
  return command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
}

/**
 * Runs a command and prints its outcome. Exit code 1 if the service refuses it; any other error is
 * thrown on. With `onNew` it may be the first thing that is done on a data directory.
 */
export async function runInConsole(
  options: CommonOptions,
  work: (console: Console) => Promise<Outcome>,
  { onNew = false } = {},
): Promise<void> {
  const opened = await openConsole(process.env, logOf(options), onNew);
  try {
    printOutcome(await work(opened), options);
  } catch (error) {
    const refusal = error instanceof ApiError ? error : logErrorAnswer(error);
    if (refusal === null) throw error;
    printRefusal(refusal, options.json === true);
    process.exitCode = 1;
  } finally {
    await opened.close();
  }
}

function printRefusal(error: ApiError, asJson: boolean): void {
  const { code, message, details } = error;
  const text = asJson ? JSON.stringify({ error: code, message, details }) : message;
  process.stderr.write(`${plainMessage(text)}\n`);
}
