import type { Command } from "commander";
import { listBackups } from "../features/backups/queries.ts";
import { backupRecord } from "../features/backups/serialize.ts";
import { findBackupAnywhere } from "../features/backups/store.ts";
import { keepBackup, releaseBackup } from "../features/retention/keep-backup.ts";
import { notFound } from "../platform/errors/api-error.ts";
import type { Console } from "./console.ts";
import { commandGroup, consoleCommand, runInConsole } from "./console-command.ts";
import { listing, type Outcome } from "./outcome.ts";

const MOST = 1000;

/** `attestore-server backup list|keep|release` */
export function backupCommand(): Command {
  const list = consoleCommand("list", `List an organisation's newest backups, at most ${MOST}`)
    .requiredOption("--org <org>", "id or slug of the organisation")
    .option("--going", "only backups whose removal is announced")
    .action((options: { json?: boolean; org: string; going?: boolean }) =>
      runInConsole(options, async (console) => {
        const org = await console.org(options.org);
        const range = { before: "bkp_~", from: null, to: null };
        const newest = (await listBackups(console.db, org.id, {}, range, MOST)).slice(0, MOST);
        const shown = newest.filter(
          ({ status, expires_at }) =>
            options.going !== true || (status === "available" && expires_at !== null),
        );
        const backups = shown.map((backup) => backupRecord(backup));
        return {
          json: backups,
          ...listing(
            ["ID", "SOURCE", "MADE", "BYTES", "STATUS", "GOES OR WENT", "KEPT SINCE"],
            backups.map((backup) => [
              backup.id,
              backup.source_id,
              backup.created_at,
              String(backup.size_bytes),
              backup.status,
              backup.expires_at ?? "",
              backup.kept_at ?? "",
            ]),
            options.going === true ? "No backup's removal is announced." : "There is no backup yet.",
          ),
        };
      }),
    );

  const keep = consoleCommand("keep", "Keep a backup, regardless of the retention rules")
    .argument("<id>", "bkp_…")
    .action((id: string, options: { json?: boolean }) =>
      runInConsole(options, async (console) => ({
        ...(await change(console, "backup keep", id, keepBackup)),
        talk: ["It stays until you release it."],
        next: `attestore-server backup release ${id}`,
      })),
    );

  const release = consoleCommand(
    "release",
    "Release a kept backup, so that the retention rules apply to it again",
  )
    .argument("<id>", "bkp_…")
    .action((id: string, options: { json?: boolean }) =>
      runInConsole(options, async (console) => ({
        ...(await change(console, "backup release", id, releaseBackup)),
        talk: ["The retention rules apply to it again. If none keeps it, its removal is announced first."],
      })),
    );

  return commandGroup("backup", "List, keep and release backups", [list, keep, release]);
}

async function change(
  console: Console,
  command: string,
  id: string,
  work: typeof keepBackup,
): Promise<Outcome> {
  const backup = await console.act(command, async (tx) => {
    const known = await findBackupAnywhere(tx, id);
    if (known === null) throw notFound("backup");
    const asked = { orgId: known.org_id, backupId: id, actorId: "console" };
    return { orgId: known.org_id, done: await work(tx, asked, new Date()) };
  });
  return { json: backupRecord(backup), result: backup.id };
}
