import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { errorCode } from "@attestore/host/errno";
import { plural } from "@attestore/proof";
import type { BackupFile } from "../features/service-backup/backup-files.ts";
import type { BackupManifest } from "../features/service-backup/contents.ts";
import type { Restored } from "../features/service-backup/restore-backup.ts";
import { ageRecipient, InvalidValue } from "../platform/config/setting-types.ts";
import { readConfig, readSettings } from "../platform/config/read-config.ts";
import { type Setting, SETTINGS } from "../platform/config/settings.ts";
import { connectDatabase } from "../platform/database/database.ts";
import { UserError } from "../platform/errors/user-error.ts";
import { readIdentity } from "../platform/keys/service-identity.ts";
import { silentLogger } from "../platform/logging/logger.ts";
import { findClientPrograms } from "../platform/postgres/client-programs.ts";
import { openConfiguredDatabase } from "../platform/postgres/open-database.ts";
import { objectStore } from "../service/open-objects.ts";
import { commandGroup, consoleCommand } from "./console-command.ts";
import { requireExisting } from "./require-existing.ts";
import { type Outcome, printOutcome } from "./outcome.ts";

interface BackupFlags {
  json?: boolean;
  to?: string;
  recipient: string[];
}

interface RestoreFlags {
  json?: boolean;
  identity: string[];
  signedHeads: string[];
}

const more = (value: string, before: string[]): string[] => [...before, value];

/** `attestore-server service backup|restore` */
export function serviceCommand(): Command {
  const backup = consoleCommand(
    "backup",
    "Back up the service itself: its database, keys and certificates, in one encrypted file",
  )
    .option("--to <directory>", "where to write it; it must exist; default: ATTESTORE_BACKUP_DIRECTORY")
    .option(
      "--recipient <age1…>",
      "encrypt to this age recipient, may be repeated; default: ATTESTORE_BACKUP_RECIPIENTS",
      more,
      [],
    )
    .action(async (options: BackupFlags) => printOutcome(backupOutcome(await runBackup(options)), options));

  const restore = consoleCommand(
    "restore",
    "Restore the service from a backup, into an empty data directory and an empty database",
  )
    .argument("<file>", "attestore-service-….age")
    .requiredOption("--identity <file>", "age identity file to decrypt with, may be repeated", more, [])
    .option(
      "--signed-heads <file>",
      "signed-heads of the lost data directory, if it is still there; may be repeated",
      more,
      [],
    )
    .action(async (file: string, options: RestoreFlags) => {
      const restored = await runRestore(file, options);
      printOutcome(restoreOutcome(restored), options);
      if (restored.findings > 0) process.exitCode = 1;
    });

  return commandGroup("service", "Back up the service itself, and restore it", [backup, restore]);
}

async function runBackup({ to, recipient }: BackupFlags): Promise<BackupFile & BackupManifest> {
  const { config, sources } = readSettings(process.env);
  const directory = to ?? config.backupDirectory;
  if (directory === undefined)
    throw new UserError(
      "invalid_argument",
      "Say where the backup goes: --to DIRECTORY, or ATTESTORE_BACKUP_DIRECTORY.",
    );
  const recipients = recipient.length > 0 ? readRecipients(recipient) : config.backupRecipients;
  if (recipients.length === 0)
    throw new UserError(
      "invalid_argument",
      "Say who can decrypt the backup: --recipient age1…, or ATTESTORE_BACKUP_RECIPIENTS. age-keygen makes a key and prints its recipient.",
    );
  const { removeOldBackupFiles, removeUnfinishedBackups, requireBackupDirectory } =
    await import("../features/service-backup/backup-files.ts");
  await requireBackupDirectory(directory, to === undefined ? undefined : "--to");
  const { requireBackable, writeServiceBackup } = await import("../features/service-backup/write-backup.ts");
  await requireExisting(config);
  const opened = await openConfiguredDatabase(config, { role: "command", log: silentLogger });
  const access = connectDatabase({ connection: opened.connection, log: silentLogger, connections: 1 });
  try {
    const major = await requireBackable(access.pool);
    const identity = await readIdentity(access.pool);
    if (identity === null) throw new Error("the service's identity is missing");
    const where = { client: config.postgresClient, postgres: config.postgres };
    await removeUnfinishedBackups(directory);
    const written = await writeServiceBackup({
      connection: opened.connection,
      programs: await findClientPrograms(where, major),
      identity,
      dataDirectory: config.data,
      settings: shownSettings(sources),
      directory,
      recipients,
      now: new Date(),
    });
    if (directory === config.backupDirectory)
      await removeOldBackupFiles(directory, config.backupKeep, written.path);
    return written;
  } finally {
    await access.close();
    await opened.close();
  }
}

function readRecipients(given: readonly string[]): string[] {
  try {
    return given.map(ageRecipient);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new UserError("invalid_argument", `--recipient must be ${error.message}.`);
  }
}

/** Settings that must be set again after a restore; of secrets, only that there were some. */
function shownSettings(sources: ReturnType<typeof readSettings>["sources"]): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, { variable, secret }] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const { text, source } = sources[name as keyof typeof sources];
    if (text !== undefined && source !== "default") shown[variable] = secret === true ? "(secret)" : text;
  }
  return shown;
}

function backupOutcome({ path, bytes, created_at, logs }: BackupFile & BackupManifest): Outcome {
  return {
    json: { path, bytes, created_at, logs: logs.logs, entries: logs.entries },
    result: path,
    talk: [
      `Backed up ${plural(logs.logs, "log", "logs")} with ${plural(logs.entries, "entry", "entries")}. The file was read back and decrypted.`,
      "It does not have objects/, with the ciphertexts and archived receipts, nor keys in a token. Copy it off this machine.",
    ],
  };
}

async function runRestore(file: string, options: RestoreFlags): Promise<Restored> {
  const config = readConfig(process.env);
  const { restoreServiceBackup } = await import("../features/service-backup/restore-backup.ts");
  return restoreServiceBackup({
    file,
    identities: await readIdentities(options.identity),
    signedHeads: options.signedHeads,
    config,
    objects: (objectUrls) => objectStore(config, objectUrls, silentLogger),
  });
}

async function readIdentities(files: readonly string[]): Promise<string[]> {
  if (files.length === 0)
    throw new UserError(
      "invalid_argument",
      "Say who can decrypt the backup: --identity FILE, the file that age-keygen wrote.",
    );
  const identities: string[] = [];
  for (const file of files) {
    const found = (await readIdentityFile(file))
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => /^AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]+$/.test(line));
    if (found.length === 0)
      throw new UserError("invalid_argument", `${file} has no age identity (AGE-SECRET-KEY-1…).`);
    identities.push(...found);
  }
  return identities;
}

async function readIdentityFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new UserError("invalid_argument", `${file} cannot be read (${errorCode(error) ?? ""}).`, {
      cause: error,
    });
  }
}

function restoreOutcome({ manifest, setBack, findings, unread }: Restored): Outcome {
  return {
    json: {
      created_at: manifest.created_at,
      log_host: manifest.log_host,
      log_key: manifest.log_key,
      logs: manifest.logs.logs,
      entries: manifest.logs.entries,
      logs_set_back: setBack,
      findings,
      not_compared: unread === 0 ? [] : [unreadText(unread)],
    },
    result:
      findings === 0
        ? "restored, clean"
        : `restored, with ${plural(findings, "finding")}: run attestore-server fsck`,
    talk: [
      `The backup is of ${manifest.created_at}: ${plural(manifest.logs.logs, "log", "logs")} of ${manifest.log_host} with ${plural(manifest.logs.entries, "entry", "entries")}.`,
      ...(setBack.length === 0
        ? []
        : [
            `${plural(setBack.length, "log lacks", "logs lack")} heads that were signed after the backup, and ${setBack.length === 1 ? "is" : "are"} read-only: see docs/operate.md, "A database that was set back".`,
          ]),
      ...(unread === 0 ? [] : [`Not compared: ${unreadText(unread)}. attestore-server fsck reads them.`]),
      "Once the service runs, its logs take nothing for three heartbeats: first it learns which heads the agents hold.",
    ],
    next: "attestore-server serve",
  };
}

function unreadText(receipts: number): string {
  return `${plural(receipts, "receipt")} whose envelopes are in the archive`;
}
