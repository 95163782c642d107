import { spawn } from "node:child_process";
import { rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { createFile, makeDirectory, moveFile } from "@attestore/host/durable-files";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import type { HeldLock } from "@attestore/host/process-lock";
import type { Config } from "../../platform/config/read-config.ts";
import { withClient } from "../../platform/database/client.ts";
import { makeRoles } from "../../platform/database/roles.ts";
import { UserError } from "../../platform/errors/user-error.ts";
import { silentLogger } from "../../platform/logging/logger.ts";
import { type ClientPrograms, findClientPrograms } from "../../platform/postgres/client-programs.ts";
import { libpqConnection } from "../../platform/postgres/libpq-connection.ts";
import {
  isHalfUpgraded,
  lockDataDirectory,
  openDatabase,
  type OpenDatabase,
  UPGRADE,
} from "../../platform/postgres/open-database.ts";
import { type LogsDigest, readLogsDigest } from "./contents.ts";
import { endOf } from "./program-end.ts";

export interface UpgradedDatabase {
  /** Major versions; null if only the last step of an interrupted upgrade was left to do. */
  versions: { from: number; to: number } | null;
}

interface Found {
  major: number;
  digest: LogsDigest;
}

/**
 * Moves the embedded database to another major version of PostgreSQL while no service runs: dumps
 * it from the old one, loads it into a new one beside it, compares the logs, and only then swaps
 * them. The old one is kept as `postgres.old`. After an interruption, the same command continues.
 * @param binaries of the old version, such as /usr/lib/postgresql/15
 * @throws UserError
 */
export async function upgradeDatabase(config: Config, binaries: string): Promise<UpgradedDatabase> {
  if (!(await exists(join(config.data, "postgres"))) && !(await isHalfUpgraded(config.data)))
    throw new UserError(
      "data_directory",
      `There is no embedded database in ${config.data}: set ATTESTORE_DATA to the service's directory.`,
    );
  // To the end: entries that a service accepts after the dump would be only in the old database.
  using held = await lockDataDirectory(config.data);
  const stage = join(config.data, UPGRADE);
  const current = join(config.data, "postgres");
  const made = join(stage, "postgres");
  const kept = join(config.data, "postgres.old");
  if (await isHalfUpgraded(config.data)) {
    await swapIn(made, current, stage);
    return { versions: null };
  }
  if (await exists(kept))
    throw new UserError("data_directory", `${kept} is there already. Move it away, then run this again.`);
  await rm(stage, { recursive: true, force: true });
  await makeDirectory(stage, process.geteuid?.() === 0 ? 0o711 : 0o700);
  const dump = join(stage, "database.dump");
  const fresh = await openDatabase({ ...common(config), dataDirectory: stage, binaries: config.postgres });
  let versions: { from: number; to: number };
  try {
    // pg_dump would let everybody on the machine read it.
    await createFile(dump, "", { mode: 0o600 });
    versions = await copy({ config, binaries, held }, fresh, dump);
  } finally {
    await rm(dump, { force: true });
    await fresh.close();
  }
  await moveFile(current, kept);
  await swapIn(made, current, stage);
  return { versions };
}

/** From the old database, which nobody else uses, into the new one. */
async function copy(
  { config, binaries, held }: { config: Config; binaries: string; held: HeldLock },
  fresh: OpenDatabase,
  dump: string,
): Promise<{ from: number; to: number }> {
  const to = await majorOf(fresh);
  const programs = await findClientPrograms({ client: config.postgresClient, postgres: config.postgres }, to);
  const old = await openDatabase({ ...common(config), dataDirectory: config.data, binaries, held });
  let before: Found;
  try {
    before = { major: await majorOf(old), digest: await digestOf(old) };
    const { dump: program } = await ownPrograms(binaries, before.major, programs);
    await run(program, old, ["--format=custom", `--file=${dump}`]);
  } finally {
    await old.close();
  }
  await makeRoles(fresh.connection, fresh);
  await run(programs.restore, fresh, ["--no-owner", "--single-transaction", "--exit-on-error", dump]);
  const digest = await digestOf(fresh);
  if (digest.sha256 === before.digest.sha256) return { from: before.major, to };
  throw new UserError(
    "backup_failed",
    "The logs of the new database are not those of the old one. The old one was not changed.",
  );
}

/**
 * Those that came with the old version, if any did. A security release may keep something in the
 * catalogue that only its own pg_dump leaves out, as 15.20 does, and that no other server takes.
 */
async function ownPrograms(
  binaries: string,
  major: number,
  otherwise: ClientPrograms,
): Promise<ClientPrograms> {
  try {
    return await findClientPrograms({ client: binaries }, major);
  } catch (error) {
    if (error instanceof UserError) return otherwise;
    throw error;
  }
}

async function run(program: string, { connection }: OpenDatabase, more: string[]): Promise<void> {
  const { args, environment } = libpqConnection(connection);
  const child = spawn(program, [...args, "--no-password", ...more], {
    env: { ...environment, LC_ALL: "C" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await endOf(child, basename(program));
}

function common(config: Config) {
  return { user: config.postgresUser, role: "serve", log: silentLogger } as const;
}

function digestOf({ connection }: OpenDatabase): Promise<LogsDigest> {
  return withClient(connection, { name: "upgrade", statement_ms: 0 }, readLogsDigest);
}

async function majorOf({ connection }: OpenDatabase): Promise<number> {
  const { rows } = await withClient(connection, { name: "upgrade", statement_ms: 0 }, (client) =>
    client.query<{ major: number }>("select current_setting('server_version_num')::int / 10000 as major"),
  );
  return rows[0]?.major ?? 0;
}

/** The last step: only a database that is whole gets here. */
async function swapIn(made: string, current: string, stage: string): Promise<void> {
  await moveFile(made, current);
  await rm(stage, { recursive: true });
}

async function exists(path: string): Promise<boolean> {
  return (await nullIfMissing(stat(path))) !== null;
}
