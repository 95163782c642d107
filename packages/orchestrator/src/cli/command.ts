import { type Command, Option } from "commander";
import { queueCommand } from "../features/command-queue/queue-command.ts";
import { listCommands } from "../features/commands/store.ts";
import { requireSource } from "../features/sources/named-source.ts";
import { commandGroup, consoleCommand, runInConsole } from "./console-command.ts";
import { listing } from "./outcome.ts";

interface QueueOptions {
  json?: boolean;
  org?: string;
  source: string;
  kind: "backup" | "restore_test";
  backup?: string;
}

/** `attestore-server command queue|list` */
export function commandCommand(): Command {
  const queue = consoleCommand("queue", "Ask an agent for a backup or a restore test")
    .requiredOption("--source <source>", "id of the source, or its slug with --org")
    .addOption(
      new Option("--kind <kind>", "what to do").choices(["backup", "restore_test"]).makeOptionMandatory(),
    )
    .option("--org <org>", "id or slug of the organisation, if the source is named by its slug")
    .option("--backup <id>", "the backup to test; default: the source's newest")
    .action((options: QueueOptions) =>
      runInConsole(options, async (console) => {
        const org = options.org === undefined ? null : await console.org(options.org);
        const source = await requireSource(console.db, org?.id ?? null, options.source);
        const queued = await console.act("command queue", async (tx) => ({
          orgId: source.org_id,
          done: await queueCommand(tx, {
            source,
            kind: options.kind,
            backupId: options.backup ?? null,
            issuedBy: "console",
          }),
        }));
        return {
          json: {
            command_id: queued.commandId,
            agent_id: queued.agentId,
            source_id: source.id,
            kind: options.kind,
            backup_id: queued.backupId,
          },
          talk: [`Queued for ${queued.agentId}, which gets it with its next heartbeat.`],
          result: queued.commandId,
          next: `attestore-server command list --org ${source.org_id}`,
        };
      }),
    );

  const list = consoleCommand("list", "List an organisation's newest commands")
    .requiredOption("--org <org>", "id or slug of the organisation")
    .action((options: { json?: boolean; org: string }) =>
      runInConsole(options, async (console) => {
        const org = await console.org(options.org);
        const commands = await listCommands(console.db, org.id);
        return {
          json: commands.map(({ created_at, delivered_at, acked_at, result, outcome, ...command }) => ({
            ...command,
            outcome: result === null ? outcome : { ...outcome, result },
            created_at: created_at.toISOString(),
            delivered_at: delivered_at?.toISOString() ?? null,
            acked_at: acked_at?.toISOString() ?? null,
          })),
          ...listing(
            ["ID", "KIND", "SOURCE", "STATUS", "ATTEMPTS", "QUEUED"],
            commands.map((command) => [
              command.id,
              command.kind,
              command.source_id,
              command.status,
              String(command.attempts),
              command.created_at.toISOString(),
            ]),
            "There is no command yet.",
          ),
        };
      }),
    );

  return commandGroup("command", "Commands to agents", [queue, list]);
}
