import type { Command } from "commander";
import { resumeRetention } from "../features/retention/resume-retention.ts";
import { requireSource } from "../features/sources/named-source.ts";
import { commandGroup, consoleCommand, runInConsole } from "./console-command.ts";

/** `attestore-server retention resume` */
export function retentionCommand(): Command {
  const resume = consoleCommand(
    "resume",
    "Go on with a source's retention that a sudden change of its backups has stopped",
  )
    .requiredOption("--source <source>", "id of the source; or with --org its slug")
    .option("--org <org>", "id or slug of the organisation, for a source that is named by its slug")
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
          talk: ["What no rule keeps is announced, and goes after the delay."],
          result: source.id,
          next: `attestore-server backup list --org ${source.org_id} --going`,
        };
      }),
    );
  return commandGroup("retention", "What is kept", [resume]);
}
