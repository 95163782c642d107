import { spawn } from "node:child_process";
import { mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { createFile, makeDirectory, syncDirectory } from "@attestore/host/durable-files";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import type { HeldLock } from "@attestore/host/process-lock";
import type { Head } from "../../log/checkpoints/checkpoint-signer.ts";
import { holdLogs } from "../../log/recovery/held-logs.ts";
import { stopSetBackLogs } from "../../log/heads/stop-set-back-logs.ts";
import { readSignedHeads } from "../../log/checkpoints/signed-heads.ts";
import type { Config } from "../../platform/config/read-config.ts";
import { withClient } from "../../platform/database/client.ts";
import { connectDatabase } from "../../platform/database/database.ts";
import { migrate } from "../../platform/database/migrate.ts";
import { makeRoles } from "../../platform/database/roles.ts";
import { UserError } from "../../platform/errors/user-error.ts";
import { requireIdentity } from "../../platform/keys/service-identity.ts";
import { openServiceKeys } from "../../platform/keys/service-keys.ts";
import { silentLogger } from "../../platform/logging/logger.ts";
import { findClientPrograms } from "../../platform/postgres/client-programs.ts";
import { libpqConnection } from "../../platform/postgres/libpq-connection.ts";
import {
  lockDataDirectory,
  openConfiguredDatabase,
  type OpenDatabase,
  UNFINISHED_RESTORE,
} from "../../platform/postgres/open-database.ts";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import { MARKER, parseMarker } from "../installation/marker.ts";
import { fsck } from "../../log/fsck/fsck.ts";
import { logIdentityOf } from "../../log/checkpoints/log-identity.ts";
import { decryptFile } from "./age-file.ts";
import { type BackupManifest, isKeptFile, isPiece, readContents, readLogsDigest } from "./contents.ts";
import { endOf } from "./program-end.ts";

export interface RestoreOptions {
  file: string;
  /** AGE-SECRET-KEY-1… */
  identities: readonly string[];
  /** The `signed-heads` of each replica of the lost service, if anybody still has them. */
  signedHeads: readonly string[];
  config: Config;
  /** The object store of the settings, once the keys are there. */
  objects: (objectUrls: Buffer) => ObjectStore;
}

export interface Restored {
  manifest: BackupManifest;
  /** Organisations whose logs lack heads that were signed after the backup. */
  setBack: string[];
  /** Findings of fsck; 0 for sound logs. */
  findings: number;
  /** Receipts that were not looked at: their envelopes are in the archive. */
  unread: number;
}

/** Files that may be in the directory before: objects, and locks of an attempt that failed. */
const MAY_BE_THERE = new Set(["objects", "lost+found", "owner.lock", "owner.json"]);
const MADE = ["postgres", "keys", "tls", "signed-heads"];

/**
 * Restores into an empty data directory and an empty database. No service starts on an interrupted
 * restore, and a failed one is removed again.
 * @throws UserError
 */
export async function restoreServiceBackup(options: RestoreOptions): Promise<Restored> {
  const { config } = options;
  await requireEmpty(config.data);
  for (const path of options.signedHeads)
    if ((await nullIfMissing(stat(path))) === null)
      throw new UserError("invalid_argument", `There is no ${path}.`);
  const stage = join(config.data, UNFINISHED_RESTORE);
  await makeDirectory(config.data, process.geteuid?.() === 0 ? 0o711 : 0o700);
  // Of two at once, one may.
  await mkdir(stage, { mode: 0o700 });
  await syncDirectory(config.data);
  try {
    // All of it, before anything is made of it: only the end says that it is whole.
    const manifest = await unpack(options, stage);
    using held = await lockDataDirectory(config.data);
    // We do not remove what a service has created in the meantime.
    await requireEmpty(config.data, UNFINISHED_RESTORE);
    return await fill(options, stage, manifest, held);
  } finally {
    await rm(stage, { recursive: true });
    await syncDirectory(config.data);
  }
}

async function requireEmpty(directory: string, besides?: string): Promise<void> {
  const names = (await nullIfMissing(readdir(directory))) ?? [];
  const others = names.filter((name) => !MAY_BE_THERE.has(name) && name !== besides);
  if (others.length > 0)
    throw new UserError(
      "data_directory",
      `${directory} is not empty (${others.slice(0, 3).join(", ")}). Restore a service only into an empty directory: set ATTESTORE_DATA to another one, or move these files away.`,
    );
}

async function unpack({ file, identities }: RestoreOptions, stage: string): Promise<BackupManifest> {
  for (const directory of ["keys", "tls"]) await mkdir(join(stage, directory), { mode: 0o700 });
  const dump = await open(join(stage, "database.dump"), "wx", 0o600);
  try {
    return await readContents(decryptFile(file, identities), async ({ name, content }) => {
      if (isPiece(name)) await dump.writeFile(content);
      else if (isKeptFile(name)) await createFile(join(stage, name), content);
    });
  } finally {
    await dump.close();
  }
}

/** A failed restore is removed again, except from a database of the user's own. */
async function fill(
  options: RestoreOptions,
  stage: string,
  manifest: BackupManifest,
  held: HeldLock,
): Promise<Restored> {
  const { config } = options;
  try {
    const opened = await openConfiguredDatabase(config, {
      role: "serve",
      restoring: true,
      held,
      log: silentLogger,
    });
    try {
      await loadDump(options, opened, join(stage, "database.dump"), manifest);
      await migrate(opened.connection, silentLogger, undefined, opened);
      for (const directory of ["keys", "tls"]) await place(stage, config.data, directory);
      return { manifest, ...(await check(options, opened)) };
    } finally {
      await opened.close();
    }
  } catch (error) {
    for (const name of MADE) await rm(join(config.data, name), { recursive: true, force: true });
    throw error;
  }
}

async function loadDump(
  { config }: RestoreOptions,
  opened: OpenDatabase,
  dump: string,
  manifest: BackupManifest,
): Promise<void> {
  await withClient(opened.connection, { name: "restore", statement_ms: 0 }, async (client) => {
    const { rows } = await client.query<{ major: number; tables: number }>(
      `select current_setting('server_version_num')::int / 10000 as major,
        (select count(*)::int from pg_class where relnamespace = to_regnamespace('public') and relkind in ('r', 'p', 'v', 'm', 'S')) as tables`,
    );
    if (rows[0]?.tables !== 0)
      throw new UserError(
        "database_unusable",
        "The database is not empty. A service is restored into an empty database only: create one, and set DATABASE_URL to it.",
      );
    const major = Math.max(rows[0].major, Number.parseInt(manifest.pg_dump, 10));
    const programs = await findClientPrograms(
      { client: config.postgresClient, postgres: config.postgres },
      major,
    );
    await makeRoles(opened.connection, opened);
    await runRestore(programs.restore, opened, dump);
    const digest = await readLogsDigest(client);
    if (digest.sha256 !== manifest.logs.sha256)
      throw new UserError("backup_failed", "The restored logs are not those that the backup says it has.");
  });
}

async function runRestore(program: string, { connection }: OpenDatabase, dump: string): Promise<void> {
  const { args, environment } = libpqConnection(connection);
  const child = spawn(
    program,
    [...args, "--no-owner", "--no-password", "--single-transaction", "--exit-on-error", dump],
    { env: { ...environment, LC_ALL: "C" }, stdio: ["ignore", "ignore", "pipe"] },
  );
  await endOf(child, "pg_restore");
}

/** The directory's files under their names, each of them on the disk before the next. */
async function place(stage: string, data: string, directory: string): Promise<void> {
  await makeDirectory(join(data, directory));
  for (const name of await readdir(join(stage, directory)))
    await createFile(join(data, directory, name), await readFile(join(stage, directory, name)), {
      mode: name === "ca.pem" ? 0o644 : 0o600,
    });
}

/** Compares the database with the keys, with the heads that are known, and with itself. */
async function check(options: RestoreOptions, opened: OpenDatabase): Promise<Omit<Restored, "manifest">> {
  const { config } = options;
  const access = connectDatabase({ connection: opened.connection, log: silentLogger, connections: 2 });
  try {
    const keys = await openServiceKeys(config, "refuse");
    let identity;
    try {
      identity = await requireIdentity(access.pool, keys, config);
    } finally {
      await keys.close();
    }
    // Until the agents had time to say which heads they hold (service/start-service.ts).
    await holdLogs(access.pool);
    const heads = await knownHeads(options, keys.objectUrls);
    const { setBack } = await stopSetBackLogs(access.pool, heads);
    const { findings, counts } = await fsck({
      pool: access.pool,
      // The archive is no part of the backup, and may be too large to wait for.
      files: null,
      identity: logIdentityOf(identity),
      onFinding: () => undefined,
    });
    return { setBack, findings, unread: counts.unread };
  } finally {
    await access.close();
  }
}

/** Of the lost data directories, kept for the new one, and of the marker beside the objects. */
async function knownHeads(options: RestoreOptions, objectUrls: Buffer): Promise<Head[]> {
  const heads: Head[] = [];
  for (const path of options.signedHeads) heads.push(...(await readSignedHeads(path)).values());
  const lines = heads.map(
    ({ origin, size, rootHash }) => `${origin} ${size} ${Buffer.from(rootHash).toString("hex")}\n`,
  );
  if (lines.length > 0) await createFile(join(options.config.data, "signed-heads"), lines.join(""));
  const marker = parseMarker((await options.objects(objectUrls).notes.read(MARKER)) ?? "");
  for (const [origin, { size, root }] of marker?.signed ?? [])
    heads.push({ origin, size, rootHash: new Uint8Array(Buffer.from(root, "hex")) });
  return heads;
}
