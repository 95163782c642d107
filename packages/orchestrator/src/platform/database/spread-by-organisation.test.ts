/**
 * What a distributed engine such as Citus asks of the schema and the SQL (docs/scale.md). It
 * spreads the rows of a table over several machines by one column, and checks a key or foreign key
 * only on the machine that has the row, so each must contain that column.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestDatabase } from "../../../test/database/test-database.ts";
import type { TestDatabase } from "../../../test/database/test-database.ts";
import { SPREAD_ON_CITUS } from "../../../test/plans/explained.ts";

/** These grow for ever: spread by `org_id`. */
const SPREAD = [
  "archive_files",
  "backups",
  "commands",
  "events",
  "log_emissions",
  "log_heads",
  "log_leaves",
  "log_tiles",
  "receipts",
  "scheduled_runs",
  "source_days",
  "uploads",
];

/** Spread by a column of their own, because rows may belong to no organisation. */
const SPREAD_BY = { api_logs: "id", idempotency_keys: "scope_sha256" };

/** Small, or removed by the clock: each machine may have them whole. */
const COPIED = [
  "agent_retired_keys",
  "agent_witnesses",
  "agents",
  "auditor_links",
  "auth_keys",
  "bootstraps",
  "config_requests",
  "incidents",
  "jobs",
  "log_generations",
  "log_lost_heads",
  "logs",
  "mail_outbox",
  "notification_attempts",
  "notification_channels",
  "notification_cursors",
  "notification_deliveries",
  "notification_incidents",
  "notifications",
  "one_time_codes",
  "org_quotas",
  "org_usage",
  "orgs",
  "passkey_challenges",
  "passkey_owners",
  "passkeys",
  "rate_limits",
  "recovery_codes",
  "schema_migrations",
  "service_settings",
  "sessions",
  "sources",
  "users",
];

/**
 * Unique indexes without the column. Builds from before migration 0073 name them in ON CONFLICT.
 * docs/migrations.md says which release drops them, and how.
 */
const KEYS_OF_BEFORE = {
  backups_upload_id_key: "upload_id",
  scheduled_runs_pkey: "source_id, kind, scheduled_at",
};

/** Triggers that a distributed engine runs beside each row, if it runs any. */
const TRIGGERS = {
  // The quota counts what replicas of every version store.
  count_removed_object: "backups",
  count_upload: "uploads",
  // A replica of the version before leaves these columns out.
  note_registered: "backups",
  receipts_happened_at: "receipts",
};

/** What of SQL belongs to a session or to one machine. Every replica connects to the same one. */
const OF_ONE_MACHINE: Readonly<Record<string, RegExp>> = {
  "advisory lock": /\bpg_(?:try_)?advisory_\w*lock\b/,
  notice: /\bpg_notify\(|`listen \$/,
  "temporary table": /\bcreate temp/i,
  "row's address": /\bctid\b|\bxmin\b/,
  "statement within a statement":
    /(?:with|,)\s+\w+(?: \([^)]*\))? as (?:materialized )?\(\s*(?:insert into|update|delete from)\b/i,
};

/** Where it is used, and what becomes of it if several machines hold the tables. */
const USES: Readonly<Record<string, string[]>> = {
  // One replica emits at a time; a second one would find the hour's heads recorded.
  "log/checkpoints/checkpoint-publisher.ts": ["advisory lock"],
  // The new heads go along with the new sizes of the logs.
  "log/append/log-writes.ts": ["statement within a statement"],
  // An agent that waits hears of its command; without the notice it asks again.
  "platform/database/agent-notices.ts": ["notice"],
  // Migrations run before the tables are spread, or one after the other by hand.
  "platform/database/migrate.ts": ["advisory lock"],
  "platform/database/remove-in-batches.ts": ["statement within a statement"],
  // Of two calls with the same key at once one gets 409. The row decides; the lock says so early.
  "platform/http/idempotency.ts": ["advisory lock"],
  "platform/http/remove-expired.ts": ["statement within a statement"],
  "platform/http/limits/reserved-rate-limits.ts": ["statement within a statement"],
  "features/backups/upload-store.ts": ["statement within a statement"],
  "features/heartbeat/fast-path.ts": ["statement within a statement"],
  "features/schedules/queue-batch.ts": ["statement within a statement"],
  // Two calls that change one source wait for each other.
  "features/sources/lock-source.ts": ["advisory lock"],
};

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

async function query<Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> {
  return (await database.pool.query<Row>(text, values)).rows;
}

const OURS = "relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')";

test("each table is either spread over the machines or copied to each of them", async () => {
  const tables = await query<{ name: string }>(`select relname::text as name from pg_class where ${OURS}`);
  expect(tables.map(({ name }) => name).toSorted()).toEqual(
    [...SPREAD, ...Object.keys(SPREAD_BY), ...COPIED].toSorted(),
  );
});

test("each row of a table that is spread says to which organisation it belongs", async () => {
  const nullable = await query(
    `select attrelid::regclass::text as name from pg_attribute
      where attrelid::regclass::text = any($1) and attname = 'org_id' and not attnotnull`,
    SPREAD,
  );
  expect(nullable).toEqual([]);
});

test("each unique key of a table that is spread contains the column that it is spread by", async () => {
  const keys = await query<{ name: string; columns: string }>(
    `select indexrelid::regclass::text as name,
        string_agg(attname, ', ' order by array_position(indkey::int2[], attnum)) as columns
      from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
      where indisunique and indrelid::regclass::text = any($1)
      group by indexrelid, indrelid
      having not bool_or(attname = coalesce($2::jsonb ->> indrelid::regclass::text, 'org_id'))`,
    [...SPREAD, ...Object.keys(SPREAD_BY)],
    JSON.stringify(SPREAD_BY),
  );
  expect(Object.fromEntries(keys.map(({ name, columns }) => [name, columns]))).toEqual(KEYS_OF_BEFORE);
});

test("a foreign key between tables that are spread stays within the organisation, and none leads from a copied one to them", async () => {
  const leaving = await query(
    `select conname as name, conrelid::regclass::text as "from", confrelid::regclass::text as "to"
      from pg_constraint where contype = 'f' and confrelid::regclass::text = any($1)
        and not (conrelid::regclass::text = any($1)
          and exists (select from unnest(conkey, confkey) as pair (own, other)
            join pg_attribute as mine on mine.attrelid = conrelid and mine.attnum = own and mine.attname = 'org_id'
            join pg_attribute as theirs on theirs.attrelid = confrelid and theirs.attnum = other and theirs.attname = 'org_id'))`,
    SPREAD,
  );
  expect(leaving).toEqual([]);
  const unchecked = await query("select conname from pg_constraint where not convalidated and contype = 'f'");
  expect(unchecked).toEqual([]);
});

test("tables that are spread have no other triggers than these", async () => {
  const triggers = await query<{ name: string; table: string }>(
    `select tgname::text as name, tgrelid::regclass::text as "table" from pg_trigger
      where not tgisinternal and tgrelid::regclass::text = any($1)`,
    [...SPREAD, ...Object.keys(SPREAD_BY)],
  );
  expect(Object.fromEntries(triggers.map(({ name, table }) => [name, table]))).toEqual(TRIGGERS);
});

async function* sources(): AsyncGenerator<{ path: string; text: string }> {
  const root = new URL("../../", import.meta.url).pathname;
  for (const path of (await readdir(root, { recursive: true })).toSorted())
    if (path.endsWith(".ts") && !path.endsWith(".test.ts"))
      yield { path, text: await readFile(join(root, path), "utf8") };
}

test("nothing else relies on what belongs to a session or to one machine", async () => {
  const found: Record<string, string[]> = {};
  for await (const { path, text } of sources()) {
    const uses = Object.entries(OF_ONE_MACHINE).filter(([, pattern]) => pattern.test(text));
    if (uses.length > 0) found[path] = uses.map(([name]) => name);
  }
  expect(found).toEqual(USES);
});

/** Citus copies the rows of any other, and nothing is copied under row-level security. */
const ANSWERS = /\breturning\b|\bon conflict\b/;

test("each statement that records many rows in tables that are spread returns something or looks for conflicts", async () => {
  let statements = 0;
  for await (const { path, text } of sources())
    for (const [statement] of text.matchAll(
      /`insert into (?:receipts|events|log_leaves|log_tiles|source_days)\b[^`]*\bselect\b[^`]*`/g,
    )) {
      statements += 1;
      expect(statement, path).toMatch(ANSWERS);
    }
  expect(statements).toBe(5);
});

/** A table where SQL names one. */
const NAMED = /\b(?:from|join|into|update|using)\s+"?(\w+)|,\s*(\w+)\s+as\s+\w/g;

test("no SQL text, of commands and for damaged logs neither, names tables that Citus spreads together with others", async () => {
  const tables = new Set([...SPREAD, ...Object.keys(SPREAD_BY), ...COPIED]);
  const mixed: string[] = [];
  let spread = 0;
  for await (const { path, text } of sources())
    for (const [statement] of text.matchAll(/`[^`]*\b(?:select|insert|update|delete)\b[^`]*`/g)) {
      const named = [...statement.matchAll(NAMED)].map(([, one, other]) => one ?? other ?? "");
      const known = new Set(named.filter((name) => tables.has(name)));
      const those = [...known].filter((name) => SPREAD_ON_CITUS.has(name));
      if (those.length > 0) spread += 1;
      if (those.length > 0 && those.length < known.size) mixed.push(`${path}: ${[...known].join(" ")}`);
    }
  expect(spread).toBeGreaterThan(30);
  expect(mixed).toEqual([]);
});

test("the organisation of a transaction is set in a way that is sent to all machines, and its role in one that is not", async () => {
  const client = await database.pool.connect();
  try {
    await client.query("begin");
    await client.query("select attestore_scope('org_one')");
    const { rows } = await client.query(
      "select current_user as role, current_setting('attestore.org_id') as org",
    );
    expect(rows).toEqual([{ role: "attestore_tenant", org: "org_one" }]);
    const [scope] = await query<{ body: string }>(
      "select prosrc as body from pg_proc where proname = 'attestore_scope'",
    );
    expect(scope?.body).toContain("set local attestore.org_id");
  } finally {
    await client.query("rollback");
    client.release();
  }
  for await (const { path, text } of sources()) expect(text, path).not.toMatch(/`set local role/);
});
