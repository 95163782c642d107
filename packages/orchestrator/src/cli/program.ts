import {
  addCommandHelp,
  asksForAllCommands,
  groupCommands,
  type HelpGroup,
} from "@attestore/host/command-help";
import { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { agentCommand } from "./agent.ts";
import { authKeyCommand } from "./auth-key.ts";
import { backupCommand } from "./backup.ts";
import { bootstrapCommand } from "./bootstrap.ts";
import { commandCommand } from "./command.ts";
import { configCommand } from "./config.ts";
import { doctorCommand } from "./doctor.ts";
import { fsckCommand } from "./fsck.ts";
import { keysCommand } from "./keys.ts";
import { logCommand } from "./log.ts";
import { migrateCommand } from "./migrate.ts";
import { databaseCommand } from "./database.ts";
import { objectsCommand } from "./objects.ts";
import { operatorCommand } from "./operator.ts";
import { orgCommand } from "./org.ts";
import { passkeyCommand } from "./passkey.ts";
import { retentionCommand } from "./retention.ts";
import { serveCommand } from "./serve.ts";
import { serviceCommand } from "./service.ts";
import { trustCommand } from "./trust.ts";
import { userCommand } from "./user.ts";
import { HELP } from "./help-texts.ts";

/** The headings of the program's help. The last one's commands are listed only with `--all`. */
const HELP_GROUPS: readonly HelpGroup[] = [
  { heading: "Run it:", commands: ["serve", "doctor", "config", "trust"] },
  { heading: "Organisations, people, hosts:", commands: ["org", "user", "auth-key", "bootstrap", "agent"] },
  { heading: "The service itself:", commands: ["operator", "fsck", "service", "backup"] },
  {
    heading: "Further commands:",
    commands: ["migrate", "database", "log", "objects", "keys", "retention", "command", "passkey"],
  },
];

/** The examples of the program's own help. */
const FIRST_STEPS = [
  ["attestore-server serve", "run the service; the first start makes everything"],
  ['attestore-server org add "My Team" --owner you@example.org', "make an organisation"],
  ["attestore-server auth-key create --org my-team", "get the line that attaches a host"],
] as const;

/** `attestore-server` with all its commands. `args` are those of the call, for its help. */
export function serverProgram(args: readonly string[]): Command {
  const program = new Command("attestore-server")
    .description("The orchestrator of Attestore, which proves that backups restore.")
    .version(packageJson.version)
    .addHelpText(
      "after",
      "\n`attestore-server help --all` lists every command, `attestore-server COMMAND --help` explains one." +
        "\nSettings are ATTESTORE_… variables: `attestore-server config` shows them." +
        "\nExit code 0: done, 1: refused or something is wrong, 2: could not begin, 3: the key token refused its PIN.",
    );
  for (const command of [
    serveCommand(),
    migrateCommand(),
    fsckCommand(),
    logCommand(),
    configCommand(),
    doctorCommand(),
    orgCommand(),
    userCommand(),
    authKeyCommand(),
    agentCommand(),
    bootstrapCommand(),
    commandCommand(),
    backupCommand(),
    retentionCommand(),
    operatorCommand(),
    passkeyCommand(),
    objectsCommand(),
    keysCommand(),
    trustCommand(),
    databaseCommand(),
    serviceCommand(),
  ]) {
    program.addCommand(command);
  }
  for (const each of runnable(program))
    addCommandHelp(each, HELP[commandPath(each)] ?? { examples: [], page: "operate.md" });
  addCommandHelp(program, { examples: FIRST_STEPS, page: "operate.md" });
  groupCommands(program, HELP_GROUPS, asksForAllCommands(args));
  return program;
}

/** The commands that can be run: those of groups, and those that have none or help of their own. */
export function runnable(program: Command): Command[] {
  return program.commands.flatMap((command) => {
    const isGroup = command.commands.length > 0 && HELP[command.name()] === undefined;
    return isGroup ? [...command.commands] : [command, ...command.commands];
  });
}

/** `org add` */
export function commandPath(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${parent.name()} ${command.name()}` : command.name();
}
