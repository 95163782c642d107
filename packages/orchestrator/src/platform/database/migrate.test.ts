import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { silentLogger } from "../logging/logger.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import { runSteps, stepsOf } from "./migration-steps.ts";
import { migrate, readMigrations } from "./migrate.ts";
import type { Migration } from "./migrate.ts";
import { openTestDatabase } from "../../../test/database/test-database.ts";
import type { TestDatabase } from "../../../test/database/test-database.ts";

let server: TestDatabase;
let connection: ConnectionSettings;
let count = 0;
beforeAll(async () => {
  server = await openTestDatabase();
});
afterAll(() => server.close());
beforeEach(async () => {
  const database = `migrate_${(count += 1)}`;
  await server.pool.query(`create database ${database}`);
  connection = { ...server.connection, database };
});

async function query<Row extends object>(text: string): Promise<Row[]> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

function migrations(...statements: string[]): Migration[] {
  return statements.map((sql, index) => ({
    version: index + 1,
    name: `000${index + 1}_test.sql`,
    sql,
    sha256: Buffer.from(sql).toString("hex"),
  }));
}

const CREATE = "create table things (n integer)";
const INSERT = "insert into things values (1)";

test("migrate applies missing migrations once, in order", async () => {
  expect(await migrate(connection, silentLogger, migrations(CREATE))).toEqual([1]);
  expect(await migrate(connection, silentLogger, migrations(CREATE, INSERT))).toEqual([2]);
  expect(await migrate(connection, silentLogger, migrations(CREATE, INSERT))).toEqual([]);
  expect(await query("select n from things")).toEqual([{ n: 1 }]);
});

test("the log has one line for a new database, and afterwards one for each migration", async () => {
  const said: [object, string][] = [];
  const log = {
    ...silentLogger,
    info: (fields: object, message: string) => void said.push([fields, message]),
  };
  await migrate(connection, log, migrations(CREATE, INSERT));
  expect(said.splice(0)).toEqual([[{ migrations: 2 }, "created the database's tables"]]);
  await migrate(connection, log, migrations(CREATE, INSERT));
  expect(said).toEqual([]);
  await migrate(connection, log, migrations(CREATE, INSERT, INSERT));
  expect(said).toEqual([[{ migration: "0003_test.sql" }, "migrated the database"]]);
});

test("replicas that start at once apply each migration once between them", async () => {
  const all = migrations(CREATE, INSERT, "insert into things values (2)");
  const done = await Promise.all(Array.from({ length: 6 }, () => migrate(connection, silentLogger, all)));
  expect(done.flat().toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  expect(await query("select n from things order by n")).toEqual([{ n: 1 }, { n: 2 }]);
});

test("a failed migration is rolled back, and the ones before it stay applied", async () => {
  const broken = migrations(CREATE, `${INSERT}; select 1/0`);
  await expect(migrate(connection, silentLogger, broken)).rejects.toThrow("division by zero");
  expect(await query("select version from schema_migrations")).toEqual([{ version: 1 }]);
  expect(await query("select n from things")).toEqual([]);
});

/** A table with rows, and a migration of it in steps. */
const MANY = `create table things (id text collate "C" primary key, n integer);
  insert into things select lpad(g::text, 6, '0'), g from generate_series(1, 2500) as g`;
const STEPS = `-- Twice what n is.
-- step: transaction
alter table things add column if not exists twice integer;
-- step: batched
with batch as (select id from things where id > $1 order by id limit 1000),
  done as (update things set twice = n * 2 from batch where things.id = batch.id and twice is null)
select max(id) as last from batch;
-- step: concurrent
create index concurrently things_twice on things (twice);
`;
const twice = "select count(*)::int as rows, count(twice)::int as twice from things";
const index = `select indisvalid from pg_index where indexrelid = to_regclass('things_twice')`;

test("a migration in steps adds a column, fills it in batches and makes an index concurrently", async () => {
  expect(await migrate(connection, silentLogger, migrations(MANY, STEPS, INSERT_THING))).toEqual([1, 2, 3]);
  expect(await query(twice)).toEqual([{ rows: 2501, twice: 2500 }]);
  expect(await query(index)).toEqual([{ indisvalid: true }]);
});

const INSERT_THING = "insert into things values ('9', 1)";

test("a migration in steps that was interrupted anywhere continues to the end, and replaces an invalid index", async () => {
  const all = migrations(MANY, STEPS);
  await migrate(connection, silentLogger, migrations(MANY));
  const [first, second] = [
    "alter table things add column twice integer",
    "update things set twice = n * 2 where id < '001500'",
  ];
  for (const statement of [first, second]) await query(statement);
  // As a kill -9 within the last step leaves it: a unique index that could not be.
  await query("update things set n = 1 where id in ('000001', '000002')");
  await query("create unique index concurrently things_twice on things (n)").catch(() => undefined);
  expect(await query(index)).toEqual([{ indisvalid: false }]);
  expect(await migrate(connection, silentLogger, all)).toEqual([2]);
  expect(await query(twice)).toEqual([{ rows: 2500, twice: 2500 }]);
  expect(await query(index)).toEqual([{ indisvalid: true }]);
  expect(await migrate(connection, silentLogger, all)).toEqual([]);
});

test("of replicas that start at once one does the steps, and the others wait without holding up its index", async () => {
  const all = migrations(MANY, STEPS, INSERT_THING);
  const done = await Promise.all(Array.from({ length: 5 }, () => migrate(connection, silentLogger, all)));
  expect(done.flat().toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  expect(await query(index)).toEqual([{ indisvalid: true }]);
});

test("a replica whose connection ends within a migration in steps leaves it to the next", async () => {
  await migrate(connection, silentLogger, migrations(MANY));
  // Holds the batched step up, until whoever does it is gone.
  const held = STEPS.replace("with batch", "with held as (select pg_advisory_xact_lock(7)), batch").replace(
    "from things where id > $1",
    "from held, things where id > $1",
  );
  const holder = new pg.Client(connection);
  await holder.connect();
  await holder.query("select pg_advisory_lock(7)");
  const first = migrate(connection, silentLogger, migrations(MANY, held)).catch((error: unknown) => error);
  const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
  await expect.poll(() => query(waiting)).toHaveLength(1);
  await query(`select pg_terminate_backend(pid) from (${waiting}) as migrating`);
  expect(await first).toBeInstanceOf(Error);
  await holder.end();
  expect(await migrate(connection, silentLogger, migrations(MANY, held))).toEqual([2]);
  expect(await query(twice)).toEqual([{ rows: 2500, twice: 2500 }]);
});

test.each([
  ["select 1;\n-- step: transaction\nselect 2;", "before its first step"],
  ["-- step: quick\nselect 1;", "unknown step quick"],
  ["-- step: concurrent\ncreate index things_n on things (n);", "is not one index"],
  ["-- step: concurrent\ncreate index concurrently a on things (n); drop table things;", "is not one index"],
  ["-- step: batched\nupdate things set n = 2 returning null as last;", "does not begin after $1"],
])("steps that are written wrongly are refused: %s", async (sql, message) => {
  await expect(migrate(connection, silentLogger, migrations(CREATE, sql))).rejects.toThrow(message);
});

/** From here on tables may be large. */
const RULES_FROM = 62;

test("no migration of ours holds a lock on a large table for long", async () => {
  for (const { version, name, sql: whole } of await readMigrations()) {
    if (version < RULES_FROM) continue;
    // What a function does is not done by the migration that makes it.
    const sql = whole.replaceAll(
      /(create (?:or replace )?function [^;]*? as) \$(\w+)\$[\s\S]*?\$\2\$/g,
      "$1 ''",
    );
    const made = [...sql.matchAll(/create table (?:if not exists )?(\w+)/gi)].map(([, table]) => table);
    for (const [statement, , table] of sql.matchAll(/create (unique )?index (?!concurrently)\w+ on (\w+)/gi))
      expect(made, `${name}: ${statement}`).toContain(table);
    for (const [statement, table] of sql.matchAll(
      /alter table (\w+)[^;]*(?:\bset not null|\btype\b|add constraint(?![^;]*not valid))/gi,
    ))
      expect(made, `${name}: ${statement}`).toContain(table);
    if (stepsOf(name, sql) === null)
      for (const [statement, table] of sql.matchAll(/^\s*(?:update|delete from) (\w+)/gim))
        expect([...made, "service_settings"], `${name}: ${statement}`).toContain(table);
  }
});

test("migrate refuses a database of newer code, and one migrated by other files, without touching them", async () => {
  await migrate(connection, silentLogger, migrations(CREATE, INSERT));
  await expect(migrate(connection, silentLogger, migrations(CREATE))).rejects.toMatchObject({
    code: "database_unusable",
    message: expect.stringContaining("newer version"),
  });
  const changed = migrations(CREATE, "insert into things values (9)", "drop table things");
  await expect(migrate(connection, silentLogger, changed)).rejects.toMatchObject({
    code: "database_unusable",
  });
  expect(await query("select n from things")).toEqual([{ n: 1 }]);
});

test("the service's own migrations are numbered without a gap, and the test database was made by them", async () => {
  const own = await readMigrations();
  expect(own.length).toBeGreaterThan(0);
  const { rows } = await server.pool.query(
    "select version, name, sha256 from schema_migrations order by version",
  );
  expect(rows).toEqual(own.map(({ version, name, sha256 }) => ({ version, name, sha256 })));
});

test("0026: a run that was decided by a receipt from before its time was missed", async () => {
  const own = await readMigrations();
  const at = own.findIndex(({ name }) => name.startsWith("0026"));
  await migrate(connection, silentLogger, own.slice(0, at));
  const receipt = (id: string, finished: string, alphabet: BufferEncoding): string => {
    // jsonb would not take its NUL, and base64 of it differs between the alphabets.
    const statement = JSON.stringify({ predicate: { finished_at: finished, observed: "\0 ÿþ??>>~~" } });
    const payload = Buffer.from(statement).toString(alphabet);
    const envelope = Buffer.from(JSON.stringify({ payload })).toString("hex");
    return `('${id}', 'org', 'restore_test', '${id}', 'agent', 'bkp', sha256('${id}'), '', decode('${envelope}', 'hex'), 0, '',
      '2026-03-02T05:03:00Z')`;
  };
  const insert = `insert into receipts (id, org_id, kind, source_id, agent_id, backup_id, envelope_sha256, payload_sha256, envelope, log_index,
      leaf_hash, created_at) values`;
  await query(`set session_replication_role = replica;
    ${insert} ${receipt("late", "2026-03-01T05:02:00.000Z", "base64url")}, ${receipt("ahead", "2026-03-09T05:02:00.000Z", "base64")};
    insert into scheduled_runs (source_id, kind, scheduled_at, org_id, deadline_at, status, decided_at)
      select id, 'restore_test', '2026-03-02T05:00:00Z', 'org', '2026-03-02T07:00:00Z', 'done', now() from receipts`);
  await migrate(connection, silentLogger, own);
  expect(await query("select id, happened_at from receipts order by id")).toEqual([
    { id: "ahead", happened_at: new Date("2026-03-02T05:03:00Z") },
    { id: "late", happened_at: new Date("2026-03-01T05:02:00Z") },
  ]);
  expect(await query("select source_id, status from scheduled_runs order by source_id")).toEqual([
    { source_id: "ahead", status: "done" },
    { source_id: "late", status: "missed" },
  ]);
  // As a replica of before it inserts.
  await query(`${insert} ${receipt("older", "2026-03-01T06:02:00.000Z", "base64")}`);
  expect(await query("select happened_at from receipts where id = 'older'")).toEqual([
    { happened_at: new Date("2026-03-01T06:02:00Z") },
  ]);
});

test("0052: objects that organisations already store are counted, and later ones too", async () => {
  const own = await readMigrations();
  const at = own.findIndex(({ name }) => name.startsWith("0052"));
  await migrate(connection, silentLogger, own.slice(0, at));
  const upload = (id: string, org: string, size: number): string =>
    `('${id}', '${org}', 's', 'a', '${id}', sha256('${id}'), ${size}, now())`;
  const backup = (id: string, org: string, size: number, removed: string): string =>
    `('bkp_${id}', '${org}', 's', 'a', '${id}', 'b_${id}', sha256('${id}'), ${size}, '{}', '{}', now(), ${removed})`;
  const uploads =
    "insert into uploads (id, org_id, source_id, agent_id, object_key, sha256, size_bytes, expires_at) values";
  await query(`set session_replication_role = replica;
    insert into orgs (id, name, slug) values ('one', 'One', 'one'), ('two', 'Two', 'two'), ('three', 'Three', 'three');
    ${uploads} ${upload("under_way", "one", 1)}, ${upload("stored", "one", 10)}, ${upload("removed", "one", 100)}, ${upload("other", "two", 1000)},
      ${upload("gone", "three", 5)};
    insert into backups (id, org_id, source_id, agent_id, upload_id, object_key, sha256, size_bytes, cipher, source_metadata, made_at, object_removed_at)
      values ${backup("stored", "one", 10, "null")}, ${backup("removed", "one", 100, "now()")}, ${backup("other", "two", 1000, "null")},
      ${backup("gone", "three", 5, "now()")}`);
  await migrate(connection, silentLogger, own);
  const usage = (): Promise<object[]> =>
    query("select org_id, bytes::int, objects::int from org_usage order by org_id");
  expect(await usage()).toEqual([
    { org_id: "one", bytes: 11, objects: 2 },
    { org_id: "two", bytes: 1000, objects: 1 },
  ]);
  // As a replica of before does it, which knows nothing of quotas.
  await query(`update backups set object_removed_at = now() where id = 'bkp_other';
    delete from uploads where id = 'under_way'`);
  expect(await usage()).toEqual([
    { org_id: "one", bytes: 10, objects: 1 },
    { org_id: "two", bytes: 0, objects: 0 },
  ]);
});

/** An agent and a source of the organisation `org`, as SQL. */
const HOST = `insert into agents (id, org_id, name, hostname, platform, agent_version, public_key, key_fingerprint, token_sha256)
    values ('a', 'org', 'a', 'a', 'linux', '1', '', 'a', '');
  insert into sources (id, org_id, slug, name, engine, agent_id) values ('s', 'org', 's', 's', 'sqlite', 'a');`;

const upload = (
  id: string,
): string => `insert into uploads (id, org_id, source_id, agent_id, object_key, sha256, size_bytes, expires_at)
  values ('${id}', 'org', 's', 'a', '${id}', '', 1, now());`;

test("0071: uploads that were registered are known as such, also by a replica of before", async () => {
  const own = await readMigrations();
  const at = own.findIndex(({ name }) => name.startsWith("0071"));
  await migrate(connection, silentLogger, own.slice(0, at));
  const backup = (
    id: string,
  ): string => `insert into backups (id, org_id, source_id, agent_id, upload_id, object_key, sha256, size_bytes, cipher,
      source_metadata, made_at, created_at) values ('bkp_${id}', 'org', 's', 'a', '${id}', '${id}', '', 1, '{}', '{}', now(), '2026-03-01T06:02:00Z');`;
  await query(`insert into orgs (id, name, slug) values ('org', 'One', 'one');
    ${HOST}
    ${upload("registered")} ${backup("registered")} ${upload("open")} ${upload("next")}`);
  await migrate(connection, silentLogger, own);
  const registered = (): Promise<object[]> => query("select id, registered_at from uploads order by id");
  const registered_at = new Date("2026-03-01T06:02:00Z");
  expect(await registered()).toEqual([
    { id: "next", registered_at: null },
    { id: "open", registered_at: null },
    { id: "registered", registered_at },
  ]);
  await query(backup("next"));
  expect(await registered()).toContainEqual({ id: "next", registered_at });
});

test("0073: keys name the organisation after an interruption anywhere, and a replica of before goes on", async () => {
  const own = await readMigrations();
  const at = own.findIndex(({ name }) => name.startsWith("0073"));
  await migrate(connection, silentLogger, own.slice(0, at));
  /** As it is registered and asked for by what does not know of the migration. */
  const backup = (
    id: string,
  ): string => `insert into backups (id, org_id, source_id, agent_id, upload_id, object_key, sha256, size_bytes, cipher,
      source_metadata, made_at, command_id) values ('bkp_${id}', 'org', 's', 'a', '${id}', '${id}', '', 1, '{}', '{}', now(), 'asked')
      on conflict (upload_id) do nothing;`;
  const scheduled = `insert into scheduled_runs (source_id, kind, scheduled_at, org_id, deadline_at, command_id)
    values ('s', 'backup', '2026-03-01T06:00:00Z', 'org', now(), 'asked')
    on conflict (source_id, kind, scheduled_at) do update set deadline_at = excluded.deadline_at;`;
  await query(`insert into orgs (id, name, slug) values ('org', 'One', 'one'), ('other', 'Other', 'other');
    ${HOST}
    insert into commands (id, org_id, source_id, agent_id, kind, issued_by) values ('asked', 'org', 's', 'a', 'backup', 'u');
    ${upload("one")} ${backup("one")} ${scheduled}`);

  const sql = own[at]?.sql ?? "";
  const steps = stepsOf("0073", sql) ?? [];
  expect(steps.length).toBeGreaterThan(20);
  for (const done of [Math.floor(steps.length / 2), steps.length]) {
    const client = new pg.Client(connection);
    await client.connect();
    await runSteps(client, steps.slice(0, done), silentLogger);
    await client.end();
  }
  expect(await migrate(connection, silentLogger, own)).toContain(73);

  await query(`${upload("two")} ${backup("two")} ${backup("two")} ${scheduled}`);
  expect(await query("select id from backups order by id")).toEqual([{ id: "bkp_one" }, { id: "bkp_two" }]);
  expect(await query("select org_id from scheduled_runs")).toEqual([{ org_id: "org" }]);
  const primary = `select conrelid::regclass::text as name, pg_get_constraintdef(oid) as key from pg_constraint
    where contype = 'p' and conrelid = any('{receipts,events,commands,uploads,backups}'::regclass[])`;
  expect(new Set((await query<{ key: string }>(primary)).map(({ key }) => key))).toEqual(
    new Set(["PRIMARY KEY (id, org_id)"]),
  );
  // What one organisation has, another's rows cannot refer to.
  await query(
    "insert into uploads select 'their', 'other', source_id, agent_id, 'their', sha256, 1, multipart, now(), now() from uploads where id = 'two'",
  );
  await expect(query(backup("their"))).rejects.toThrow('violates foreign key constraint "backups_upload"');
  await expect(query(upload("two"))).rejects.toThrow('violates unique constraint "uploads_key"');
});
