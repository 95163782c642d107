import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { moveFile, temporaryName } from "@attestore/host/durable-files";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import type { ClientBase, Pool } from "pg";
import packageJson from "../../../package.json" with { type: "json" };
import { withClient } from "../../platform/database/client.ts";
import type { ConnectionSettings } from "../../platform/database/connection-settings.ts";
import { UserError } from "../../platform/errors/user-error.ts";
import type { ServiceIdentity } from "../../platform/keys/service-identity.ts";
import type { ClientPrograms } from "../../platform/postgres/client-programs.ts";
import { libpqConnection } from "../../platform/postgres/libpq-connection.ts";
import { decryptFile, encryptFile } from "./age-file.ts";
import { type BackupFile, backupFileName } from "./backup-files.ts";
import {
  type BackupManifest,
  FORMAT,
  isKeptFile,
  isPiece,
  MANIFEST,
  pieceName,
  readContents,
  readLogsDigest,
  SETTINGS_ENTRY,
  SUMS,
  Sums,
} from "./contents.ts";
import { endOf } from "./program-end.ts";
import { PIECE_BYTES, type TarEntry, writeTar } from "./tar.ts";
import { requireUnchangedLogs } from "./unchanged-logs.ts";

export interface BackupOptions {
  /** As the owner of the tables: nobody else may read all rows. */
  connection: ConnectionSettings;
  programs: ClientPrograms;
  identity: ServiceIdentity;
  /** With `keys/` and `tls/`. */
  dataDirectory: string;
  /** Settings without secrets, for the person who restores. */
  settings: Record<string, string>;
  /** Where the backup goes. It must exist. */
  directory: string;
  /** age1… */
  recipients: readonly string[];
  now: Date;
}

/**
 * Backs up the database at one moment and the files of the data directory that belong to it, in one
 * encrypted file. It gets its name only after it was read back, decrypted and compared; after a
 * crash the rest has a temporary name.
 * @throws UserError `backup_failed`
 */
export async function writeServiceBackup(options: BackupOptions): Promise<BackupFile & BackupManifest> {
  const path = join(options.directory, backupFileName(options.now));
  const temporary = temporaryName(path);
  // Known to nobody but this process, and forgotten with it: so that it can read the file once.
  const own = await generateX25519Identity();
  const recipients = [...options.recipients, await identityToRecipient(own)];
  try {
    const written = await withClient(
      options.connection,
      { name: "backup", statement_ms: 0 },
      async (client) => {
        const { manifest, snapshot } = await holdSnapshot(client, options);
        const archive = writeTar(entries(manifest, snapshot, options), options.now);
        const bytes = await encryptFile(temporary, archive, recipients);
        await client.query("commit");
        await requireUnchangedLogs(client, manifest.logs);
        return { ...manifest, bytes };
      },
    );
    await verify(temporary, own, options.programs);
    await moveFile(temporary, path);
    return { path, createdAt: options.now, ...written };
  } finally {
    await rm(temporary, { force: true });
  }
}

/**
 * Major version of a server that has a service to back up.
 * @throws UserError if there is none yet, or this role would leave rows out
 */
export async function requireBackable(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ major: number; owns: boolean | null }>(
    `select current_setting('server_version_num')::int / 10000 as major,
      (select pg_has_role(current_user, relowner, 'usage') from pg_class where oid = to_regclass('service_settings')) as owns`,
  );
  const [row] = rows;
  if (row?.owns === true) return row.major;
  if (row?.owns === false)
    throw new UserError(
      "database_unusable",
      "The role of DATABASE_URL does not see all rows, so it cannot back them up. Set ATTESTORE_MIGRATIONS_DATABASE_URL to the same database with the tables' owner as the user.",
    );
  throw new UserError(
    "invalid_argument",
    "The service has not been started yet: there is nothing to back up.",
  );
}

/** The dump and the manifest show the same moment; the snapshot lasts as long as the connection. */
async function holdSnapshot(
  client: ClientBase,
  { identity, programs, now }: BackupOptions,
): Promise<{ manifest: BackupManifest; snapshot: string }> {
  await client.query("set idle_in_transaction_session_timeout = 0");
  await client.query("begin isolation level repeatable read read only");
  const { rows } = await client.query<{
    snapshot: string;
    version: string;
    migration: number;
  }>(
    `select pg_export_snapshot() as snapshot, current_setting('server_version') as version,
      (select max(version) from schema_migrations) as migration`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a query without tables returned no row");
  const manifest: BackupManifest = {
    format: FORMAT,
    created_at: now.toISOString(),
    service: packageJson.version,
    postgresql: row.version.split(" ")[0] ?? "",
    pg_dump: programs.version,
    migration: row.migration,
    log_host: identity.log_host,
    log_key: identity.log_key,
    logs: await readLogsDigest(client),
  };
  return { manifest, snapshot: row.snapshot };
}

async function* entries(
  manifest: BackupManifest,
  snapshot: string,
  options: BackupOptions,
): AsyncGenerator<TarEntry, void, undefined> {
  const sums = new Sums();
  const json = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
  const first = [
    { name: MANIFEST, content: json(manifest) },
    { name: SETTINGS_ENTRY, content: json(options.settings) },
    ...(await keptFiles(options.dataDirectory)),
  ];
  for (const entry of first) {
    sums.add(entry);
    yield entry;
  }
  let number = 0;
  for await (const content of dump(snapshot, options)) {
    const entry = { name: pieceName(++number), content };
    sums.add(entry);
    yield entry;
  }
  yield { name: SUMS, content: Buffer.from(sums.text()) };
}

/** Keys that a token holds are in no file, and so in no backup. */
async function keptFiles(dataDirectory: string): Promise<TarEntry[]> {
  const kept: TarEntry[] = [];
  for (const directory of ["keys", "tls"])
    for (const file of ((await nullIfMissing(readdir(join(dataDirectory, directory)))) ?? []).toSorted()) {
      const name = `${directory}/${file}`;
      if (isKeptFile(name)) kept.push({ name, content: await readFile(join(dataDirectory, name)) });
    }
  return kept;
}

/** The output of `pg_dump`, in pieces of PIECE_BYTES. */
async function* dump(
  snapshot: string,
  { connection, programs }: BackupOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const { args, environment } = libpqConnection(connection);
  const child = spawn(
    programs.dump,
    [...args, "--format=custom", "--enable-row-security", "--no-password", `--snapshot=${snapshot}`],
    { env: { ...environment, LC_ALL: "C" }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const ended = endOf(child, "pg_dump");
  let parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      let rest = chunk;
      while (length + rest.length >= PIECE_BYTES) {
        const cut = PIECE_BYTES - length;
        yield Buffer.concat([...parts, rest.subarray(0, cut)]);
        rest = rest.subarray(cut);
        parts = [];
        length = 0;
      }
      parts.push(rest);
      length += rest.length;
    }
    await ended;
    yield Buffer.concat(parts);
  } finally {
    child.kill("SIGKILL");
    await ended.catch(() => undefined);
  }
}

/** Reads the file as a restore will, up to the SQL in it. */
async function verify(path: string, identity: string, programs: ClientPrograms): Promise<void> {
  // It has to read all of the dump to write this.
  const child = spawn(programs.restore, ["--file=/dev/null"], {
    env: { LC_ALL: "C" },
    stdio: ["pipe", "ignore", "pipe"],
  });
  const ended = endOf(child, "pg_restore");
  child.stdin.on("error", () => undefined); // Its end says why.
  try {
    await readContents(decryptFile(path, [identity]), async ({ name, content }) => {
      if (!isPiece(name) || child.stdin.write(content)) return;
      await Promise.race([once(child.stdin, "drain"), once(child.stdin, "close")]);
    });
    child.stdin.end();
    await ended;
  } catch (error) {
    throw new UserError(
      "backup_failed",
      `The backup was written, but it cannot be read back, so it was removed: ${error instanceof Error ? error.message : ""}`,
      { cause: error },
    );
  } finally {
    child.kill("SIGKILL");
    await ended.catch(() => undefined);
  }
}
