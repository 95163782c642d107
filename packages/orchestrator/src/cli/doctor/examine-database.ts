import { MAX_CLOCKS_APART_MS } from "../../log/clock-off.ts";
import type { Pool } from "pg";
import { readMigrations } from "../../platform/database/migrate.ts";
import { countAsynchronousStandbys } from "../../platform/postgres/asynchronous-standbys.ts";
import { failed, type Finding, ok, warning } from "@attestore/host/finding";

/**
 * Agents and S3 stores refuse times that are a quarter of an hour apart; the log's times should be
 * much closer.
 */
const CLOCK_DRIFTS_MS = 2000;

/** Which PostgreSQL answers, and whether its tables are those of this version. */
export async function examineDatabase(pool: Pool): Promise<Finding[]> {
  const { rows } = await pool.query<{ version: string; embedded: boolean }>(
    "select current_setting('server_version') as version",
  );
  return [ok("database", `PostgreSQL ${rows[0]?.version ?? ""} answers.`), await examineMigrations(pool)];
}

/** Null if the database has no tables of ours yet. */
export async function appliedMigrations(pool: Pool): Promise<{ version: number; sha256: string }[] | null> {
  const { rows } = await pool.query<{ table: string | null }>(
    "select to_regclass('schema_migrations')::text as table",
  );
  if (rows[0]?.table === null) return null;
  return (
    await pool.query<{ version: number; sha256: string }>("select version, sha256 from schema_migrations")
  ).rows;
}

async function examineMigrations(pool: Pool): Promise<Finding> {
  const known = await readMigrations();
  const applied = await appliedMigrations(pool);
  if (applied === null)
    return warning(
      "migrations",
      "The database is empty.",
      "Start the service, or run attestore-server migrate.",
    );
  const unknown = applied.filter(
    ({ version, sha256 }) => !known.some((one) => one.version === version && one.sha256 === sha256),
  );
  if (unknown.length > 0)
    return failed(
      "migrations",
      "The database was migrated by another version of this program.",
      "Run the version that migrated it, or a newer one.",
    );
  const missing = known.filter(({ version }) => !applied.some((one) => one.version === version));
  return missing.length === 0
    ? ok("migrations", `All ${known.length} migrations are applied.`)
    : warning(
        "migrations",
        `${missing.length} of ${known.length} migrations are not applied yet.`,
        "Start the service, or run attestore-server migrate.",
      );
}

/**
 * A standby that may lack acknowledged entries. Says nothing if there is none, as with the embedded
 * database.
 */
export async function examineStandbys(pool: Pool): Promise<Finding[]> {
  const standbys = await countAsynchronousStandbys(pool);
  if (standbys === 0) return [];
  return [
    warning(
      "standbys",
      `${standbys === 1 ? "Another server copies" : `${standbys} other servers copy`} the database, and no commit waits for it to arrive there. One that takes over after a failure may lack acknowledged receipts.`,
      "Set synchronous_standby_names (and synchronous_commit = on), unless none of them will ever take over.",
    ),
  ];
}

/** Compares this machine's clock with the database's, and with the newest recorded times. */
export async function examineClock(pool: Pool): Promise<Finding> {
  const before = Date.now();
  const { rows } = await pool.query<{ now: Date; newest: Date | null }>(
    `select clock_timestamp() as now, max(recorded_at) as newest from logs cross join lateral (
      select recorded_at from log_heads where log_heads.org_id = logs.org_id order by tree_size desc limit 1) as head`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a query without tables returned no row");
  const middle = (before + Date.now()) / 2;
  const off_ms = Math.abs(row.now.getTime() - middle);
  const message = `This machine's clock and the database's are ${(off_ms / 1000).toFixed(1)} s apart.`;
  const next = "Set the clocks by NTP (timedatectl set-ntp true).";
  if (row.newest !== null && row.newest.getTime() > Date.now() + CLOCK_DRIFTS_MS)
    return failed(
      "clock",
      `The log has an entry from ${row.newest.toISOString()}, which this clock says is in the future.`,
      next,
    );
  if (off_ms > MAX_CLOCKS_APART_MS) return failed("clock", message, next);
  return off_ms > CLOCK_DRIFTS_MS ? warning("clock", message, next) : ok("clock", message);
}
