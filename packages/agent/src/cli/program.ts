import { addCommandHelp, asksForAllCommands, groupCommands } from "@attestore/host/command-help";
import { statSync } from "node:fs";
import { userInfo } from "node:os";
import { resolve } from "node:path";
import { plainText } from "@attestore/proof/plain-text";
import { Command as Commander, CommanderError, Option } from "commander";
import { FLAGS, takesValue, type FlagName } from "../config/flag-table.ts";
import { agentVersion } from "../state/host-facts.ts";
import { openTerminal } from "./terminal/terminal.ts";
import { COMMANDS, GROUPS, HELP_GROUPS } from "./commands/commands.ts";
import type { Call, Command, ExitCode } from "./invocation/command.ts";
import { UserError } from "../errors/user-error.ts";
import { failureOf } from "./invocation/exit-code.ts";
import type { FoundRoot } from "./invocation/find-root.ts";
import { STDOUT } from "./invocation/output-file.ts";
import { Flags, type GivenFlags } from "./invocation/flags.ts";
import { refuseUnknown } from "./invocation/refuse-unknown.ts";
import { reportRequests } from "./terminal/report-requests.ts";
import { withVolume, type Volume } from "./terminal/volume.ts";

/** Flags that every command takes. */
const EVERYWHERE: readonly FlagName[] = ["root", "json", "quiet", "verbose"];

export type Surroundings = Omit<Call, "flags" | "root" | "terminal">;

/** Parses a command line, runs the command, and reports what went wrong. */
export async function runProgram(
  args: readonly string[],
  around: Surroundings,
  commands: readonly Command[] = COMMANDS,
): Promise<ExitCode> {
  const terminal = openTerminal(process.stdout, process.stderr, around.env);
  let exitCode: ExitCode = 0;
  const perform: Perform = async (command, given, words) => {
    let flags = new Flags(given, around.env);
    let volume: Volume = "usual";
    let root: FoundRoot | null = null;
    const place = {
      flag: flags.typed("root"),
      env: around.env,
      cwd: around.cwd,
      uid: process.getuid?.() ?? 1,
    };
    try {
      // Load the configuration and its parsers later, so that --version and --help need not wait.
      const { findRoot } = await import("./invocation/find-root.ts");
      // What the root's configuration says is its owner's word, and not that of who calls.
      const output = command.flags.includes("output") ? flags.text("output") : undefined;
      root = await findRoot(place, {
        mayBeFresh: command.makesRoot === true,
        output: output === undefined || output === STDOUT ? null : resolve(around.cwd, output),
      });
      flags = flags.withDefaults(root.config?.defaults ?? {});
      volume = volumeOf(flags);
      const heard = withVolume(terminal, volume);
      heard.detail(`attestore ${agentVersion}, Node ${process.version}`);
      if (root.resolved !== null) heard.detail(`root ${root.resolved.path}, from ${root.resolved.branch}`);
      if (volume === "verbose") reportRequests(heard.detail);
      const run = await command.load();
      exitCode = await run({ ...around, flags, root, terminal: heard }, ...words);
    } catch (error) {
      const failure = failureOf(error, around.signal);
      if (wantsJson(flags)) terminal.data(JSON.stringify({ error: failure.code, message: failure.message }));
      terminal.say(`attestore ${command.name}: ${terminal.onTalk.bad(failure.shown)}`);
      const whose = /\bEACCES\b/.test(failure.message) ? whoseRoot(root?.resolved?.path, place.uid) : null;
      if (whose !== null) terminal.say(`  ${whose}`);
      if (volume === "verbose" && !failure.isDefect)
        for (const cause of causesOf(error)) terminal.say(`  because: ${cause}`);
      if (failure.isDefect) {
        terminal.say("This is a bug in attestore. Please report it with the following text:");
        terminal.say(error instanceof Error ? (error.stack ?? error.message) : String(error));
      }
      exitCode = failure.exitCode;
    } finally {
      await root?.handOver?.end();
    }
  };
  const answerInJson = (message: string): void => {
    if (asksForJson(args, around.env)) terminal.data(JSON.stringify({ error: "usage", message }));
  };
  const refusal = refuseUnknown(args, commands);
  if (refusal !== null) {
    answerInJson(refusal);
    terminal.say(`attestore: ${refusal}`);
    return 2;
  }
  let isRefused = false;
  const refused = (): void => void (isRefused = true);
  try {
    const program = commander(commands, perform, refused);
    groupCommands(program, HELP_GROUPS, asksForAllCommands(args));
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    // Help and version end here too.
    if (!(error instanceof CommanderError)) throw error;
    // After `help`, Commander takes the exit code that the process has so far.
    if (error.exitCode === 0 || (error.code === "commander.help" && !isRefused)) return 0;
    answerInJson(error.message.replace(/^error: /, ""));
    return 2;
  }
}

/** The examples of the program's own help. */
const FIRST_STEPS = [
  ["attestore init --service https://backup.example.org:8443", "attach this host"],
  ["attestore source add", "say what to back up"],
  ["attestore backup && attestore restore-test", "back it up, and prove that it restores"],
] as const;

function volumeOf(flags: Flags): Volume {
  // The command line's word on one replaces the environment's and config.yaml's on the other.
  const quiet = flags.isOn("quiet") && (flags.isTyped("quiet") || !flags.isTyped("verbose"));
  const verbose = flags.isOn("verbose") && (flags.isTyped("verbose") || !flags.isTyped("quiet"));
  if (quiet && verbose) throw new UserError("usage", "give --quiet or --verbose, not both");
  return quiet ? "quiet" : verbose ? "verbose" : "usual";
}

/** Who has to have access, if that is not who called; null otherwise. */
function whoseRoot(root: string | undefined, uid: number): string | null {
  const worksAs = process.geteuid?.();
  if (uid === 0 && worksAs !== 0) {
    let name = `user ${worksAs}`;
    try {
      name = userInfo().username;
    } catch {
      // An owner without an account on this host.
    }
    return `On this root, attestore works as its owner, ${name}, also if root calls it: ${name} has to have access.`;
  }
  const owner = root === undefined ? null : ownerOf(root);
  if (owner === null || owner === worksAs || owner === 0) return null;
  return `${root} belongs to another user (uid ${owner}): run attestore as that user, or as root.`;
}

function ownerOf(path: string): number | null {
  try {
    return statSync(path).uid;
  } catch {
    return null;
  }
}

/** The causes of an error that its message does not contain. */
function causesOf(error: unknown): string[] {
  const causes: string[] = [];
  let last = error;
  while (last instanceof Error && last.cause !== undefined && causes.length < 8) {
    last = last.cause;
    causes.push(last instanceof Error ? last.message : String(last));
  }
  return causes;
}

type Perform = (command: Command, given: GivenFlags, words: readonly (string | undefined)[]) => Promise<void>;

function commander(commands: readonly Command[], perform: Perform, refused: () => void): Commander {
  const program = new Commander("attestore")
    .description("Makes encrypted backups, really restores them, and signs the results.")
    .version(agentVersion)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void process.stdout.write(plainText(text)),
      writeErr: (text) => {
        refused();
        process.stderr.write(plainText(text));
      },
    })
    // Flags before a command's name count for the program: `attestore --root DIR doctor` means the
    // same as `attestore doctor --root DIR`.
    .enablePositionalOptions()
    .showHelpAfterError("(for more, see --help)")
    .addHelpText(
      "after",
      "\n`attestore help --all` lists every command, `attestore help COMMAND` explains one." +
        "\nEach flag can also be set in the environment as [ATTESTORE_…], or in `defaults:` of config.yaml." +
        "\nExit codes: 0 proven or done, 1 ran and failed, 2 could not run, 130 interrupted.",
    );
  addFlags(program, EVERYWHERE);
  addCommandHelp(program, { examples: FIRST_STEPS, page: "README.md" });
  const groups = new Map<string, Commander>();
  for (const command of commands) {
    const [first = "", second] = command.name.split(" ");
    // The bare command prints status.
    const sub =
      second === undefined
        ? program.command(first, { isDefault: first === "status" })
        : groupOf(program, groups, first).command(second, { isDefault: GROUPS[first]?.bare === second });
    sub.description(command.summary).allowExcessArguments(false);
    addFlags(sub, command.flags);
    const taken = command.words ?? [];
    for (const { form, about } of taken) sub.argument(form, about);
    addCommandHelp(sub, command);
    sub.action(async (...received: unknown[]) => {
      const words = taken.flatMap((_, at) => {
        const word = received[at];
        if (Array.isArray(word)) return word.filter((each) => typeof each === "string");
        return [typeof word === "string" ? word : undefined];
      });
      await perform(command, { ...givenOf(program, EVERYWHERE), ...givenOf(sub, command.flags) }, words);
    });
  }
  return program;
}

function groupOf(program: Commander, groups: Map<string, Commander>, name: string): Commander {
  const known = groups.get(name);
  if (known !== undefined) return known;
  const group = program.command(name).description(GROUPS[name]?.summary ?? "");
  group.enablePositionalOptions();
  const commands = COMMANDS.filter((command) => command.name.startsWith(`${name} `));
  const examples = commands.flatMap((command) => command.examples.slice(0, 1)).slice(0, 3);
  addCommandHelp(group, { examples, page: commands[0]?.page ?? "agent.md#commands" });
  groups.set(name, group);
  return group;
}

function addFlags(to: Commander, names: readonly FlagName[]): void {
  for (const name of names) {
    const { form, about, env } = FLAGS[name];
    to.addOption(new Option(form, `${about} [${env}]`));
    // A switch from the environment or from `defaults:` can be turned back.
    if (!takesValue(name)) to.addOption(new Option(opposite(form)).hideHelp());
  }
}

function opposite(form: string): string {
  return form.startsWith("--no-") ? form.replace("--no-", "--") : form.replace("--", "--no-");
}

/**
 * Reads only the command line. The environment and the defaults are applied in one place, later.
 */
function givenOf(parsed: Commander, names: readonly FlagName[]): GivenFlags {
  return Object.fromEntries(
    names
      .filter((name) => parsed.getOptionValueSource(name) === "cli")
      .map((name) => [name, parsed.getOptionValue(name) as unknown]),
  );
}

/** For a call that could not be parsed. The last one wins, as in a valid call. */
function asksForJson(args: readonly string[], env: NodeJS.ProcessEnv): boolean {
  const last = args.findLast((arg) => arg === "--json" || arg === "--no-json");
  return last === undefined ? wantsJson(new Flags({}, env)) : last === "--json";
}

function wantsJson(flags: Flags): boolean {
  try {
    return flags.isOn("json");
  } catch {
    return false;
  }
}
