import type { Command } from "commander";
import { resumeRetention } from "../features/retention/resume-retention.ts";
import { requireSource } from "../features/sources/named-source.ts";
import { commandGroup, consoleCommand, runInConsole } from "./console-command.ts";

/** `attestore-server retention resume` */
export function retentionCommand(): Command {
  const resume = consoleCommand(
    "resume",
    "Resume a source's retention after a sudden change in its backups stopped it",
  )
    .requiredOption("--source <source>", "id of the source, or its slug with --org")
    .option("--org <org>", "id or slug of the organisation, if the source is named by its slug")
    .action((options: { json?: boolean; source: string; org?: string }) =>
      runInConsole(options, async (console) => {
        const org = options.org === undefined ? null : await console.org(options.org);
        const source = await requireSource(console.db, org?.id ?? null, options.source);
        await console.act("retention resume", async (tx) => {
          const asked = { orgId: source.org_id, sourceId: source.id, actorId: "console" };
          return { orgId: source.org_id, done: await resumeRetention(tx, asked, new Date()) };
        });
        return {
          json: { source_id: source.id },
          talk: ["Backups that no rule keeps are announced, and removed after the delay."],
          result: source.id,
          next: `attestore-server backup list --org ${source.org_id} --going`,
        };
      }),
    );
  return commandGroup("retention", "Resume retention after a sudden change stopped it", [resume]);
}
