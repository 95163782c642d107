import { setTimeout as delay } from "node:timers/promises";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "@attestore/host/durable-files";
import { errorCode, errorMessage } from "@attestore/host/errno";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import type { HeldLock } from "@attestore/host/process-lock";
import pg from "pg";
import type { Config } from "../config/read-config.ts";
import { requireOwnSessions } from "../database/pooling.ts";
import { refusalOf, requireWritable } from "./refused-connection.ts";
import { parseServers } from "../database/servers.ts";
import { asDatabaseUnavailable, DatabaseUnavailable } from "../database/unavailable.ts";
import { fileTrouble } from "@attestore/host/file-trouble";
import { UserError } from "../errors/user-error.ts";
import { SERVICE_ROLE } from "../database/roles.ts";
import { tryLockDirectory } from "../files/directory-lock.ts";
import type { DirectoryHolder, LockRole } from "../files/directory-lock.ts";
import { clusterDirectory, DATABASE_NAME, DATABASE_ROLE } from "./cluster.ts";
import type { ConnectionSettings } from "../database/connection-settings.ts";
import { requireDurableExternal } from "./durability.ts";
import { readPostmasterPid } from "./postmaster-pid.ts";
import { startEmbeddedPostgres } from "./supervisor.ts";
import type { EmbeddedPostgresOptions } from "./supervisor.ts";

export interface OpenDatabaseOptions extends Omit<EmbeddedPostgresOptions, "lock"> {
  /** A PostgreSQL of the user's own, instead of the embedded one. */
  databaseUrl?: string | undefined;
  /** The same database as its owner, if `databaseUrl` uses another role. */
  migrationsUrl?: string | undefined;
  /**
   * `serve` owns the data directory until `close`; `command` shares the database of a service that
   * runs on it.
   */
  role: LockRole;
  /**
   * How long to wait for a command that has the data directory, or for a service that is starting;
   * 30 s by default.
   */
  waitMs?: number;
  /** Only a restore may use a directory whose restore is unfinished. */
  restoring?: boolean;
  /** Of a caller that has locked the data directory for longer, and releases it itself. */
  held?: HeldLock;
}

export interface OpenDatabase {
  /** As the owner of the tables, or its future owner: for migrations and for commands. */
  connection: ConnectionSettings;
  /** As the role that the service works as. */
  service: ConnectionSettings;
  /** Both are the same role. */
  ownerServes: boolean;
  /**
   * False while the embedded server is down; always true for a DATABASE_URL, whose state only a
   * query shows.
   */
  isReady(): boolean;
  close(): Promise<void>;
}

const UNUSABLE_DIRECTORY = new Set([
  "EACCES",
  "EPERM",
  "EROFS",
  "ENOTDIR",
  "ENOENT",
  "ENOSPC",
  "EDQUOT",
  "ELOOP",
  "ENAMETOOLONG",
]);

/**
 * Makes the database reachable: that of `databaseUrl`, that of a service running on the data
 * directory, or our own.
 */
export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenDatabase> {
  try {
    return await open(options);
  } catch (error) {
    const code = errorCode(error);
    if (code === null || !UNUSABLE_DIRECTORY.has(code)) throw error;
    // A directory of the service is not given away to whoever runs a command on it.
    const isOfAnother = code === "EACCES" || code === "EPERM";
    const said = `${errorMessage(error)}.`;
    const next = isOfAnother
      ? `${said} Run this as the service's user or as root, or`
      : `${fileTrouble(error) ?? said} Or`;
    throw new UserError(
      "data_directory",
      `The data directory ${options.dataDirectory} cannot be used. ${next} choose another directory with ATTESTORE_DATA.`,
      { cause: error },
    );
  }
}

/** The database that the settings name: the embedded one, or one of the user's own. */
export function openConfiguredDatabase(
  config: Config,
  options: Pick<OpenDatabaseOptions, "role" | "log" | "maxConnections" | "restoring" | "held">,
): Promise<OpenDatabase> {
  return openDatabase({
    dataDirectory: config.data,
    databaseUrl: config.databaseUrl,
    migrationsUrl: config.migrationsUrl,
    binaries: config.postgres,
    user: config.postgresUser,
    ...options,
  });
}

async function open(options: OpenDatabaseOptions): Promise<OpenDatabase> {
  await makeDirectory(options.dataDirectory, process.geteuid?.() === 0 ? 0o711 : 0o700);
  if (options.restoring !== true) await requireRestored(options.dataDirectory);
  if (options.databaseUrl === undefined && (await isHalfUpgraded(options.dataDirectory)))
    throw new UserError(
      "data_directory",
      `The upgrade of the database in ${options.dataDirectory} was interrupted at its last step. Run attestore-server database upgrade again.`,
    );
  if (options.databaseUrl !== undefined) return openExternal(options.databaseUrl, options);
  const owned = await lockOrJoin(options);
  if ("connection" in owned)
    return { ...embedded(owned.connection), isReady: () => true, close: () => Promise.resolve() };
  return closingLock(owned.lock, async () => {
    const server = await startEmbeddedPostgres({ ...options, lock: owned.lock });
    return {
      ...embedded(server.connection),
      isReady: () => server.isReady(),
      close: () => server.stop(),
    };
  });
}

/** In the data directory while the embedded database is moved to another major version. */
export const UPGRADE = "postgres-upgrade";

/** The old database was put aside, and the new one is not in its place yet. */
export async function isHalfUpgraded(directory: string): Promise<boolean> {
  const has = async (...names: string[]): Promise<boolean> =>
    (await nullIfMissing(stat(join(directory, ...names)))) !== null;
  return !(await has("postgres")) && (await has("postgres.old")) && (await has(UPGRADE, "postgres"));
}

/** In the data directory during a restore of the service, and after one that was cut off. */
export const UNFINISHED_RESTORE = "restore-unfinished";

async function requireRestored(directory: string): Promise<void> {
  if ((await nullIfMissing(stat(join(directory, UNFINISHED_RESTORE)))) === null) return;
  throw new UserError(
    "data_directory",
    `The service was not restored into ${directory} to the end. Remove everything in it but objects/ (and, with a DATABASE_URL, the database), and restore again.`,
  );
}

function embedded(connection: ConnectionSettings): Omit<OpenDatabase, "isReady" | "close"> {
  return { connection, service: { ...connection, user: SERVICE_ROLE }, ownerServes: false };
}

async function openExternal(connectionString: string, options: OpenDatabaseOptions): Promise<OpenDatabase> {
  const { migrationsUrl } = options;
  const open = async (): Promise<OpenDatabase> => {
    await requireUsable(connectionString, "DATABASE_URL");
    if (migrationsUrl !== undefined) await requireUsable(migrationsUrl, "ATTESTORE_MIGRATIONS_DATABASE_URL");
    await requireDurableExternal({ connectionString }, options.log);
    return {
      connection: { connectionString: migrationsUrl ?? connectionString },
      service: { connectionString },
      ownerServes: migrationsUrl === undefined,
      isReady: () => true,
      close: () => Promise.resolve(),
    };
  };
  if (options.role === "command") return open();
  // A service's keys and objects are in its data directory, which therefore still needs one owner.
  const owned = await lockOrJoin(options);
  if ("connection" in owned) throw new Error("a service never joins another");
  return closingLock(owned.lock, open);
}

/** Says which server it was and what to do, but no password. */
async function requireUsable(connectionString: string, variable: string): Promise<void> {
  try {
    await requireOwnSessions({ connectionString });
    await requireWritable({ connectionString });
  } catch (error) {
    const unavailable = asDatabaseUnavailable(error);
    if (unavailable === null) throw error;
    const names = parseServers(connectionString).names.join(", ");
    const said = refusalOf(unavailable.cause, variable);
    throw new DatabaseUnavailable(error, `${unavailable.message} ${variable} names ${names}.${said}`);
  }
}

/**
 * Releases the lock last, when we no longer use the directory, and immediately if opening fails.
 */
async function closingLock(lock: HeldLock, open: () => Promise<OpenDatabase>): Promise<OpenDatabase> {
  try {
    const opened = await open();
    const close = async (): Promise<void> => {
      try {
        await opened.close();
      } finally {
        lock.release();
      }
    };
    return { ...opened, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

const leave = (): void => undefined;
const borrowed: HeldLock = { release: leave, [Symbol.dispose]: leave };

/**
 * Keeps services and commands off a data directory, for work that takes more than its database.
 * @throws UserError `data_directory_in_use`
 */
export async function lockDataDirectory(dataDirectory: string): Promise<HeldLock> {
  const owned = await lockOrJoin({ dataDirectory, role: "serve" });
  if ("connection" in owned) throw new Error("a service never joins another");
  return owned.lock;
}

async function lockOrJoin(
  options: Pick<OpenDatabaseOptions, "dataDirectory" | "role" | "waitMs" | "held">,
): Promise<{ lock: HeldLock } | { connection: ConnectionSettings }> {
  if (options.held !== undefined) return { lock: borrowed };
  for (const until = performance.now() + (options.waitMs ?? 30_000); ; await delay(100)) {
    const attempt = tryLockDirectory(options.dataDirectory, options.role);
    if ("lock" in attempt) return attempt;
    const { holder } = attempt;
    if (holder?.role === "serve") {
      if (options.role === "serve") throw inUse(options.dataDirectory, holder);
      const connection = await connectionOfRunning(options.dataDirectory);
      if (connection !== null) return { connection };
    }
    if (performance.now() <= until) continue;
    const isEmbedded =
      (await nullIfMissing(stat(clusterDirectory(join(options.dataDirectory, "postgres"))))) !== null;
    throw holder?.role === "serve" && isEmbedded
      ? withoutDatabase(options.dataDirectory, holder)
      : inUse(options.dataDirectory, holder);
  }
}

/** The server's own description, if it really answers: the file may be left from an earlier run. */
async function connectionOfRunning(dataDirectory: string): Promise<ConnectionSettings | null> {
  const status = await readPostmasterPid(clusterDirectory(join(dataDirectory, "postgres")));
  if (status === null || !status.ready || status.socketDirectory === null) return null;
  const connection = {
    host: status.socketDirectory,
    port: status.port,
    user: DATABASE_ROLE,
    database: DATABASE_NAME,
  };
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return connection;
  } catch (error) {
    if (errorCode(error) !== "28000") return null;
    throw new UserError(
      "database_unusable",
      `The service on ${dataDirectory} does not accept commands from this user. Run the command as the service's user or as root.`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The service's log names the reason; a command only sees that nobody answers. */
function withoutDatabase(directory: string, { pid }: DirectoryHolder): DatabaseUnavailable {
  return new DatabaseUnavailable(
    null,
    `The service (process ${pid}) runs on ${directory}, but its PostgreSQL does not answer: it does not start, or is still starting. The service's log says why. Often the disk is full. If the service runs with DATABASE_URL, set the same DATABASE_URL here.`,
  );
}

function inUse(directory: string, holder: DirectoryHolder | null): UserError {
  const who = holder === null ? "another process" : `process ${holder.pid}`;
  return new UserError(
    "data_directory_in_use",
    holder?.role === "command"
      ? `A command (${who}) is still using the data directory ${directory}. Try again when it is done.`
      : `The data directory ${directory} is in use by a running service (${who}). Stop it first, or choose another directory with ATTESTORE_DATA. If it runs with DATABASE_URL, set the same DATABASE_URL here.`,
  );
}
