import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import type pg from "pg";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode, errorMessage } from "@attestore/host/errno";
import { UserError } from "../errors/user-error.ts";
import type { Logger } from "../logging/logger.ts";
import { withClient } from "./client.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import { runSteps, stepsOf } from "./migration-steps.ts";
import { ensureRoles, SERVICE_ROLE, type RolesOptions } from "./roles.ts";
import { splitStatements } from "./split-statements.ts";
import { watched } from "./watched.ts";

export interface Migration {
  version: number;
  /** File name, such as 0001_initial.sql. */
  name: string;
  sql: string;
  sha256: string;
}

interface AppliedMigration {
  version: number;
  name: string;
  sha256: string;
}

const DIRECTORY = new URL("./migrations/", import.meta.url);
const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;
/** Any constant that nobody else uses: "atst" as a number. */
const ADVISORY_LOCK = 0x61747374;
/**
 * Less than the second after which PostgreSQL looks for deadlocks and cancels the one that looked.
 */
const LOCK_TIMEOUT_MS = 800;
const RETRY_MS = 250;
const GIVE_UP_AFTER_MS = 120_000;
const IDLE_MS = 60_000;
/** Of the looks at what another replica does. */
const TELL_EVERY = 40;
/** Lock not available in time, deadlock, a time limit that a migration sets itself. */
const LOCKED_OUT = new Set(["55P03", "40P01", "57014"]);
/**
 * Migration 0020 raises this if the role lacks a privilege. Its message has the statement to run.
 */
const NO_ROLE = "AT001";

/** The migrations of this version of the code, ordered by number; no number occurs twice. */
export async function readMigrations(directory: URL = DIRECTORY): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).sort();
  const versions = names.map((name) => Number(FILE_NAME.exec(name)?.[1]));
  return Promise.all(
    names.map(async (name, index) => {
      const version = versions[index] ?? Number.NaN;
      if (!(version > (versions[index - 1] ?? 0)))
        throw new Error(`each migration must have its own number; ${name} does not`);
      const sql = await readFile(new URL(name, directory), "utf8");
      stepsOf(name, sql); // A mistake shows before anything is migrated.
      return { version, name, sql, sha256: createHash("sha256").update(sql).digest("hex") };
    }),
  );
}

/**
 * Brings the database to this version of the code: forward only. Each migration is a transaction of
 * its own together with the row that records it, so a crash leaves it done or not begun; or it has
 * steps, and after a crash begins with the first again (migration-steps.ts). Any number of replicas
 * may start at once: whoever has the lock looks again for what is left to do. Reports the locks
 * that it waits for.
 * @returns the versions applied now
 * @throws UserError if the database belongs to newer code, or was migrated by other files than
 * these
 */
export async function migrate(
  connection: ConnectionSettings,
  log: Logger,
  migrations?: Migration[],
  roles: RolesOptions = { ownerServes: true },
): Promise<number[]> {
  const known = migrations ?? (await readMigrations());
  return withClient(connection, { name: "migrate", statement_ms: 0 }, async (client) => {
    // This process's locks must not stay if its host vanishes.
    await client.query(`set idle_in_transaction_session_timeout = ${IDLE_MS}`);
    // Citus would refuse a new function or role after a table's change. Others ignore the setting.
    await client.query("set citus.multi_shard_modify_mode = 'sequential'");
    return watched(client, { connection, log, what: "migrating the database" }, async () => {
      if (await isOthers(client)) return requireMigrated(client, known);
      await ensureRoles(client, roles);
      // Of a new database nobody wants to read how its tables came to be what they are.
      const isNew = !(await isRecorded(client));
      const steps = isNew ? { ...log, info: log.debug.bind(log) } : log;
      const done: number[] = [];
      for (;;) {
        const version = await applyPatiently(client, known, steps);
        if (version === null) break;
        done.push(version);
        steps.info(
          { migration: known.find((each) => each.version === version)?.name },
          "migrated the database",
        );
      }
      if (isNew) log.info({ migrations: done.length }, "created the database's tables");
      return done;
    });
  });
}

/**
 * A replica of the previous version may be serving meanwhile. Its transactions are short, but
 * whoever waits for a lock on a table holds up everybody who comes later. So no wait is long; a
 * migration that did not get its locks, or was cancelled because of a deadlock, is tried again.
 */
async function applyPatiently(client: pg.Client, known: Migration[], log: Logger): Promise<number | null> {
  let until = performance.now() + GIVE_UP_AFTER_MS;
  for (let round = 0; ; await delay(RETRY_MS)) {
    try {
      const next = await applyNext(client, known, log);
      if (next !== "elsewhere") return next;
      // It may take as long as it needs.
      until = performance.now() + GIVE_UP_AFTER_MS;
      if (round++ % TELL_EVERY === 0) log.info({}, "waiting for another replica that migrates the database");
    } catch (error) {
      const code = errorCode(error);
      if (code === NO_ROLE) throw new UserError("database_unusable", errorMessage(error), { cause: error });
      if (!LOCKED_OUT.has(code ?? "") || performance.now() > until) throw error;
      log.warn({ reason: errorMessage(error) }, "a migration is waiting for tables that are in use");
    }
  }
}

/** `elsewhere`: another replica is at it. */
async function applyNext(
  client: pg.Client,
  known: Migration[],
  log: Logger,
): Promise<number | null | "elsewhere"> {
  await client.query("begin");
  try {
    // A transaction that waits for a lock holds up indexes that are made concurrently.
    const { rows } = await client.query<{ got: boolean }>("select pg_try_advisory_xact_lock($1) as got", [
      ADVISORY_LOCK,
    ]);
    const next = rows[0]?.got === true ? await readNext(client, known) : "elsewhere";
    const steps = next === null || next === "elsewhere" ? null : stepsOf(next.name, next.sql);
    if (next !== null && next !== "elsewhere" && steps === null) {
      await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      for (const statement of splitStatements(next.sql)) await client.query(statement);
      await recordApplied(client, next);
    }
    await client.query("commit");
    if (steps !== null) return await applySteps(client, known, log);
    return next === null || next === "elsewhere" ? next : next.version;
  } catch (error) {
    await client.query("rollback").catch(() => undefined); // The connection may be what broke; the first error counts.
    throw error;
  }
}

/** Outside of any transaction, so the lock belongs to the connection, and ends with it. */
async function applySteps(
  client: pg.Client,
  known: Migration[],
  log: Logger,
): Promise<number | null | "elsewhere"> {
  const { rows } = await client.query<{ got: boolean }>("select pg_try_advisory_lock($1) as got", [
    ADVISORY_LOCK,
  ]);
  if (rows[0]?.got !== true) return "elsewhere";
  try {
    const next = await readNext(client, known);
    if (next === null) return null;
    const steps = stepsOf(next.name, next.sql);
    // Another replica was faster.
    if (steps === null) return "elsewhere";
    await runSteps(client, steps, log);
    await recordApplied(client, next);
    return next.version;
  } finally {
    await client.query("select pg_advisory_unlock($1)", [ADVISORY_LOCK]).catch(() => undefined); // The first error counts.
  }
}

async function readNext(client: pg.Client, known: Migration[]): Promise<Migration | null> {
  await client.query(
    `create table if not exists schema_migrations (
      version integer primary key, name text not null, sha256 text not null, applied_at timestamptz not null default now())`,
  );
  const applied = await client.query<AppliedMigration>(
    "select version, name, sha256 from schema_migrations order by version",
  );
  return nextMigration(known, applied.rows);
}

async function recordApplied(client: pg.Client, { version, name, sha256 }: Migration): Promise<void> {
  await client.query("insert into schema_migrations (version, name, sha256) values ($1, $2, $3)", [
    version,
    name,
    sha256,
  ]);
}

/** Whether the tables exist and belong to another role, which would make migrating impossible. */
async function isOthers(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ is_service: boolean; is_own: boolean | null }>(
    `select current_user = $1 as is_service, (select pg_has_role(current_user, relowner, 'usage') from pg_class
      where oid = to_regclass('schema_migrations')) as is_own`,
    [SERVICE_ROLE],
  );
  const [row] = rows;
  return row?.is_service === true || row?.is_own === false;
}

/** Whether a migration was ever begun here. */
async function isRecorded(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ is_there: boolean }>(
    "select to_regclass('schema_migrations') is not null as is_there",
  );
  return rows[0]?.is_there === true;
}

async function requireMigrated(client: pg.Client, known: Migration[]): Promise<number[]> {
  const applied = (await isRecorded(client))
    ? (
        await client.query<AppliedMigration>(
          "select version, name, sha256 from schema_migrations order by version",
        )
      ).rows
    : [];
  if (nextMigration(known, applied) === null) return [];
  throw new UserError(
    "database_unusable",
    "The database is not migrated to this version, and the role of DATABASE_URL owns none of its tables. Set ATTESTORE_MIGRATIONS_DATABASE_URL to the same database with their owner as the user, or run attestore-server migrate with it first.",
  );
}

function nextMigration(known: Migration[], applied: AppliedMigration[]): Migration | null {
  applied.forEach((row, index) => {
    const migration = known[index];
    if (migration === undefined) {
      throw new UserError(
        "database_unusable",
        `The database is at version ${applied.at(-1)?.version}, but this program knows only ${known.at(-1)?.version}: a newer version migrated it. Run that version. Nothing was changed.`,
      );
    }
    if (row.version !== migration.version || row.sha256 !== migration.sha256) {
      throw new UserError(
        "database_unusable",
        `The database's migration ${row.name} differs from this program's ${migration.name}. Run the program that migrated it. Nothing was changed.`,
      );
    }
  });
  return known[applied.length] ?? null;
}
