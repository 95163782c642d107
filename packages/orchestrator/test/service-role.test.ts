/**
 * The role that the service connects as, and the few roles that it can become: what each may, from
 * the database's own catalog, so that a new table or a new right cannot be forgotten. What each
 * organisation sees is in tenancy-rows.test.ts.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import pg from "pg";
import { SERVICE_ROLE, WAYS, roleOf } from "../src/platform/database/roles.ts";
import { startTestService, type TestService } from "./service.ts";
import { RIGHTS } from "./service-role-rights.ts";
import { makeWorld, type World } from "./tenancy/world.ts";

let service: TestService;
let world: World;
/** Whoever has taken over the service's own connection. */
let taken: pg.Client;
beforeAll(async () => {
  service = await startTestService();
  world = await makeWorld(service);
  taken = new pg.Client(service.serviceConnection);
  await taken.connect();
});
afterAll(async () => {
  await taken.end();
  await service.close();
});

const OWN = [SERVICE_ROLE, "attestore_tenant", ...WAYS.map(roleOf)];
const asSuperuser = async <T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> =>
  (await service.pool.query<T>(text, values)).rows;

async function tables(): Promise<string[]> {
  const rows = await asSuperuser<{ name: string }>(
    "select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace order by relname",
  );
  return rows.map(({ name }) => name);
}

/**
 * What may be done to which table by those roles: "select, update(a b)" where it is not all of its
 * columns.
 */
async function granted(role: string): Promise<Record<string, string>> {
  const rows = await asSuperuser<{ name: string; may: string }>(
    `select relname as name, string_agg(privilege || case when has_table_privilege($1, pg_class.oid, privilege) then ''
        else '(' || (select string_agg(attname, ' ' order by attnum) from pg_attribute where attrelid = pg_class.oid and attnum > 0
          and not attisdropped and has_column_privilege($1, pg_class.oid, attnum, privilege)) || ')' end, ', ' order by n) as may
    from pg_class, unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) with ordinality as one (privilege, n)
    where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace and (has_table_privilege($1, pg_class.oid, privilege)
      or (privilege in ('select', 'insert', 'update', 'references') and has_any_column_privilege($1, pg_class.oid, privilege)))
    group by relname order by relname`,
    [role],
  );
  return Object.fromEntries(rows.map(({ name, may }) => [name, may]));
}

test("each role may do what the list says, and nothing else", async () => {
  expect(Object.keys(RIGHTS).toSorted()).toEqual(OWN.toSorted());
  for (const role of OWN) expect({ [role]: await granted(role) }).toEqual({ [role]: RIGHTS[role] });
});

test("scheduled jobs read no passkey, no credential and no content of an organisation", async () => {
  await taken.query("set role attestore_jobs");
  for (const statement of [
    "select from passkeys",
    "select from recovery_codes",
    "select email from users",
    "select token_sha256 from sessions",
    "select token_sha256 from agents",
    "select secret_sha256 from auth_keys",
    "select source_metadata from backups",
    "select envelope from receipts",
    "select body from events",
    "select leaf from log_leaves",
    "select data from notifications",
    "select url from notification_channels",
    "insert into events default values",
    "update backups set status = 'available'",
    "delete from backups",
  ])
    await expect(taken.query(statement), statement).rejects.toMatchObject({ code: "42501" });
  await taken.query("reset role");
});

test("an unauthenticated request reads and writes no backup, no receipt and no event", async () => {
  await taken.query("set role attestore_requests");
  for (const table of [
    "backups",
    "receipts",
    "events",
    "log_leaves",
    "uploads",
    "notification_channels",
    "incidents",
    "source_days",
  ])
    for (const statement of [
      `select from ${table}`,
      `insert into ${table} default values`,
      `delete from ${table}`,
    ])
      await expect(taken.query(statement), statement).rejects.toMatchObject({ code: "42501" });
  await taken.query("reset role");
});

test("the service's roles are no superusers, bypass no policy, create nothing and own nothing", async () => {
  expect(
    await asSuperuser(
      `select rolname::text as name from pg_roles where rolname = any($1)
        and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication)`,
      [OWN],
    ),
  ).toEqual([]);
  expect(
    await asSuperuser(
      "select * from pg_shdepend where deptype = 'o' and refobjid in (select oid from pg_roles where rolname = any($1))",
      [OWN],
    ),
  ).toEqual([]);
  const { rows } = await taken.query(
    "select session_user::text as role, current_setting('is_superuser') as super",
  );
  expect(rows).toEqual([{ role: SERVICE_ROLE, super: "off" }]);
});

test("each table with organisations' rows has row-level security in force, also for its owner", async () => {
  expect(
    await asSuperuser(
      `select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace
        and (relrowsecurity or relname in ('orgs', 'sessions', 'agent_witnesses')
          or exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'org_id' and not attisdropped))
        and not (relrowsecurity and relforcerowsecurity
          and (select count(*) from pg_policy where polrelid = pg_class.oid) = 4)`,
    ),
  ).toEqual([]);
});

test("a connection of the service without a role reads and writes nothing", async () => {
  for (const table of (await tables()).filter((name) => name !== "schema_migrations"))
    for (const statement of [`select from "${table}"`, `delete from "${table}"`, `truncate "${table}"`])
      await expect(taken.query(statement), statement).rejects.toMatchObject({ code: "42501" });
});

test("somebody who takes over the service's connection can change no table, remove nothing and take no other role", async () => {
  for (const role of ["attestore_tenant", ...WAYS.filter((way) => way !== "console").map(roleOf)]) {
    await taken.query(`set role ${role}`);
    for (const statement of [
      "create table mine ()",
      "alter table receipts disable row level security",
      "alter table receipts no force row level security",
      "drop policy tenant on receipts",
      "drop table receipts",
      "truncate receipts",
      "create function mine() returns int language sql as 'select 1'",
      "alter role attestore_service superuser",
      "set session_replication_role = replica",
      "copy (select) to program 'true'",
      "select pg_read_file('postgresql.conf')",
      ...[
        "log_leaves",
        "log_heads",
        "log_tiles",
        "log_emissions",
        "receipts",
        "events",
        "agent_retired_keys",
        "api_logs",
      ].map((table) => `update ${table} set org_id = org_id`),
      ...[
        "log_leaves",
        "log_heads",
        "log_tiles",
        "log_emissions",
        "receipts",
        "events",
        "agent_retired_keys",
        "orgs",
        "backups",
      ].map((table) => `delete from ${table}`),
    ])
      await expect(taken.query(statement), `${role}: ${statement}`).rejects.toMatchObject({
        code: expect.stringMatching(/^42501$|^42P01$/) as unknown,
      });
  }
  await taken.query("reset role");
  for (const role of ["attestore", "attestore_console", "attestore_owner"])
    await expect(taken.query(`set role ${role}`), role).rejects.toMatchObject({ code: "42501" });
});

test("an organisation's own role sees nothing without an organisation", async () => {
  await taken.query("set role attestore_tenant");
  const lines: string[] = [];
  for (const table of Object.keys(await granted("attestore_tenant")))
    if (table !== "mail_outbox")
      lines.push(
        ...(
          await taken.query<{ line: string }>(`select to_jsonb(t)::text as line from "${table}" as t`)
        ).rows.map(({ line }) => line),
      );
  expect(lines.filter((line) => world.secrets.some((id) => line.includes(id)))).toEqual([]);
});

const ARCHIVE =
  "select attestore_archive('org_none', 0, decode(repeat('00', 32), 'hex'), 1, array['rcpt_none'], array[0], array[1])";

test("the archive's functions are for the jobs and for commands alone, and take no receipt that is not old", async () => {
  for (const role of ["attestore_tenant", "attestore_requests", "attestore_log"]) {
    await taken.query(`set role ${role}`);
    await expect(taken.query(ARCHIVE), role).rejects.toMatchObject({ code: "42501" });
  }
  await taken.query("set role attestore_jobs");
  await expect(taken.query(ARCHIVE)).rejects.toMatchObject({ code: "AT002" });
  await expect(
    taken.query("select attestore_unarchive('org_none', 0, array['rcpt_none'], array['x'::bytea])"),
  ).rejects.toMatchObject({ code: "42501" });
  await taken.query("reset role");
  const found = await asSuperuser<{ id: string; org_id: string; log_index: string; length: number }>(
    "select id, org_id, log_index, octet_length(envelope) as length from receipts limit 1",
  );
  const [receipt] = found;
  if (receipt === undefined) throw new Error("the world has no receipt");
  await taken.query("set role attestore_jobs");
  await expect(
    taken.query(
      "select attestore_archive($1, $2::bigint / 256, decode(repeat('00', 32), 'hex'), 1, array[$3], array[0], array[$4::int])",
      [receipt.org_id, receipt.log_index, receipt.id, receipt.length],
    ),
  ).rejects.toMatchObject({ code: "AT002" });
  await taken.query("reset role");
});

test("a temporary table in the place of one that the archive's functions write to does not make them run anything", async () => {
  await taken.query("set role attestore_jobs");
  await taken.query("begin");
  await taken.query(
    "create temp table archive_files (org_id text, file_index bigint, sha256 bytea, size_bytes bigint)",
  );
  await taken.query("create temp table ran_as (name text)");
  await taken.query("grant insert on ran_as to public");
  await taken.query(
    "create function pg_temp.mine() returns trigger language plpgsql as 'begin insert into pg_temp.ran_as values (current_user); return new; end'",
  );
  await taken.query(
    "create trigger mine before insert on archive_files for each row execute function pg_temp.mine()",
  );
  await taken.query(
    ARCHIVE.replace("array['rcpt_none'], array[0], array[1]", "'{}'::text[], '{}'::int[], '{}'::int[]"),
  );
  expect((await taken.query("select name from ran_as")).rows).toEqual([]);
  await taken.query("rollback");
  await taken.query("reset role");
});
