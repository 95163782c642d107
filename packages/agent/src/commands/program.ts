import { Command as Commander, CommanderError, Option } from "commander";
import { nearestName } from "../root/nearest-name.ts";
import { agentVersion } from "../service/host-facts.ts";
import { openTerminal } from "../terminal/terminal.ts";
import { alarm } from "./alarm.ts";
import { backup } from "./backup.ts";
import type { Call, Command, ExitCode } from "./command.ts";
import { doctor } from "./doctor.ts";
import { failureOf } from "./exit-code.ts";
import { Flags, FLAGS, type FlagName, type GivenFlags } from "./flags.ts";
import { init } from "./init.ts";
import { restore } from "./restore.ts";
import { restoreTest } from "./restore-test.ts";
import { runAgent } from "./run-agent.ts";
import { status } from "./status.ts";
import { sync } from "./sync.ts";

const COMMANDS: readonly Command[] = [
  init,
  backup,
  restoreTest,
  restore,
  runAgent,
  sync,
  status,
  doctor,
  alarm,
];

/** What every command takes. */
const EVERYWHERE: readonly FlagName[] = ["root", "json"];

const KNOWN = [...COMMANDS.map(({ name }) => name), "help"];

export type Surroundings = Omit<Call, "flags" | "terminal">;

/** Parses a command line, runs its command, and says what went wrong if something did. */
export async function runProgram(args: readonly string[], around: Surroundings): Promise<ExitCode> {
  const terminal = openTerminal(process.stdout, process.stderr, around.env);
  let exitCode: ExitCode = 0;
  const perform = async (
    command: Command,
    given: GivenFlags,
    argument: string | undefined,
  ): Promise<void> => {
    const flags = new Flags(given, around.env);
    try {
      exitCode = await command.run({ ...around, flags, terminal }, argument);
    } catch (error) {
      const failure = failureOf(error, around.signal);
      if (wantsJson(flags)) terminal.data(JSON.stringify({ error: failure.code, message: failure.message }));
      terminal.say(`attestore ${command.name}: ${terminal.onTalk.bad(failure.message)}`);
      if (failure.isDefect) {
        terminal.say("This is a defect of attestore. Please report it with what follows:");
        terminal.say(error instanceof Error ? (error.stack ?? error.message) : String(error));
      }
      exitCode = failure.exitCode;
    }
  };
  const [first] = args;
  if (first !== undefined && /^[a-z]/.test(first) && !KNOWN.includes(first)) {
    const near = nearestName(first, KNOWN);
    const hint = near === null ? `There are ${KNOWN.join(", ")}.` : `Did you mean "${near}"?`;
    terminal.say(`attestore: there is no command "${first}". ${hint}`);
    return 2;
  }
  try {
    await commander(perform).parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    // Help and version end here too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

type Perform = (command: Command, given: GivenFlags, argument: string | undefined) => Promise<void>;

function commander(perform: Perform): Commander {
  const program = new Commander("attestore")
    .description("Makes encrypted backups, restores them for real, and signs what it found.")
    .version(agentVersion)
    .exitOverride()
    // Before a command's name they are the program's: `attestore --root DIR doctor`, as well as `attestore doctor --root DIR`.
    .enablePositionalOptions()
    .showHelpAfterError("(--help says more)")
    .addHelpText(
      "after",
      "\nExit codes: 0 proven or done, 1 ran and failed, 2 could not run, 130 interrupted.",
    );
  for (const name of EVERYWHERE) program.addOption(optionOf(name));
  for (const command of COMMANDS) {
    // The bare command prints status.
    const sub = program.command(command.name, { isDefault: command === status });
    sub.description(command.summary).allowExcessArguments(false);
    for (const name of command.flags) sub.addOption(optionOf(name));
    if (command.argument !== undefined) sub.argument(command.argument.form, command.argument.about);
    sub.action(async (...received: unknown[]) => {
      const argument = command.argument === undefined ? undefined : received[0];
      await perform(
        command,
        { ...givenOf(program, EVERYWHERE), ...givenOf(sub, command.flags) },
        typeof argument === "string" ? argument : undefined,
      );
    });
  }
  return program;
}

function optionOf(name: FlagName): Option {
  const { form, about, env } = FLAGS[name];
  return new Option(form, `${about} [${env}]`);
}

/** What stands on the command line; the environment and the defaults come behind it, in one place. */
function givenOf(parsed: Commander, names: readonly FlagName[]): GivenFlags {
  return Object.fromEntries(
    names
      .filter((name) => parsed.getOptionValueSource(name) === "cli")
      .map((name) => [name, parsed.getOptionValue(name) as unknown]),
  );
}

function wantsJson(flags: Flags): boolean {
  try {
    return flags.isOn("json");
  } catch {
    return false;
  }
}
