/**
 * Migration 0020 on servers where the service's role is no superuser, and while a replica of before
 * goes on serving.
 */
import { appendFile, chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { RecordingLogger } from "../../../test/recording-logger.ts";
import { silentLogger } from "../logging/logger.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import { clusterDirectory } from "../postgres/cluster.ts";
import { openDatabase, type OpenDatabase } from "../postgres/open-database.ts";
import { connectDatabase } from "./database.ts";
import { migrate, readMigrations } from "./migrate.ts";
import { readServicePrivileges } from "./service-privileges.ts";
import { typeParsers } from "./type-parsers.ts";

let directory: string;
let server: OpenDatabase;
let superuser: pg.Pool;
let count = 0;
/** Who owns the test's own database, and nothing else. */
let role: string;
let database: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "attestore-test-"));
  await chmod(directory, 0o711);
  server = await openDatabase({ dataDirectory: directory, role: "serve", log: silentLogger });
  superuser = new pg.Pool({ ...server.connection, types: typeParsers });
  superuser.on("error", () => undefined);
  // The embedded server lets its one role in; here the same person of the system may come as any.
  const identities = join(clusterDirectory(join(directory, "postgres")), "pg_ident.conf");
  await appendFile(identities, `service "${userInfo().username}" all\n`);
  await superuser.query("select pg_reload_conf()");
  await superuser.query("create role visitor login");
  await vi.waitFor(() => run({ ...server.connection, user: "visitor" }, "select"), { timeout: 10_000 });
});
afterAll(async () => {
  await superuser.end();
  await server.close();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  count += 1;
  role = `service_${count}`;
  database = `database_${count}`;
});

async function createRole(options: string): Promise<void> {
  await superuser.query(`create role ${role} login ${options}`);
  await superuser.query(`create database ${database} owner ${role}`);
}

function as(user: string): ConnectionSettings {
  return { ...server.connection, database, user };
}

async function run(connection: ConnectionSettings, ...statements: string[]): Promise<pg.QueryResult[]> {
  const client = new pg.Client({ ...connection, types: typeParsers });
  await client.connect();
  try {
    const results: pg.QueryResult[] = [];
    for (const statement of statements) results.push(await client.query(statement));
    return results;
  } finally {
    await client.end();
  }
}

/** What the service connects as, and what it becomes. */
const SERVED = [
  "attestore_service",
  "attestore_tenant",
  "attestore_requests",
  "attestore_log",
  "attestore_jobs",
];

const isTenant = "select current_user as name";

test("the error for a role that may not create roles has the statements to run, and after them it works", async () => {
  await createRole("nosuperuser nocreaterole");
  const refused = await migrate(as(role), silentLogger).then(
    () => null,
    (error: unknown) => error as Error & { code: string },
  );
  expect(refused?.code).toBe("database_unusable");
  const remedy = /try again: (.*)$/.exec(refused?.message ?? "")?.[1] ?? "";
  expect(remedy).toContain("create role attestore_service nologin noinherit; ");
  expect(remedy).toContain(
    `grant attestore_owner, attestore_tenant, attestore_console, attestore_service to ${role};`,
  );
  await superuser.query(remedy);
  await migrate(as(role), silentLogger);
  for (const each of SERVED) await run(as(role), `set role ${each}`);
  const [, , became] = await run(as(role), "begin", "set local role attestore_tenant", isTenant);
  expect(became?.rows).toEqual([{ name: "attestore_tenant" }]);
});

test("the error for a second service on the same server, whose role has no membership yet, says to grant it", async () => {
  await createRole("nosuperuser nocreaterole");
  const migrating = migrate(as(role), silentLogger);
  const grant = `grant attestore_owner, attestore_tenant, attestore_console, attestore_service to ${role}`;
  await expect(migrating).rejects.toThrow(`try again: ${grant};`);
  await superuser.query(grant);
  await migrate(as(role), silentLogger);
});

test("a role that may create roles makes them and joins them by itself", async () => {
  // Roles are of the whole server: another database's rights would keep it.
  for (const other of ["database_1", "database_2"]) await superuser.query(`drop database ${other}`);
  await superuser.query(`drop role ${SERVED.join(", ")}, attestore_console, attestore_owner`);
  await createRole("nosuperuser createrole");
  await migrate(as(role), silentLogger);
  const [, , became] = await run(as(role), "begin", "set local role attestore_tenant", isTenant);
  expect(became?.rows).toEqual([{ name: "attestore_tenant" }]);
  for (const each of SERVED) await run(as(role), `set role ${each}`);
});

test("databases of one server that migrate at once do not get into each other's way", async () => {
  const databases = ["a", "b", "c"].map((name) => `${database}_${name}`);
  for (const name of databases) await superuser.query(`create database ${name}`);
  const each = await Promise.all(
    databases.map((name) => migrate({ ...server.connection, database: name }, silentLogger)),
  );
  const all = (await readMigrations()).map(({ version }) => version);
  expect(each).toEqual([all, all, all]);
});

test.each([20, 49])(
  "a replica of before migration %i goes on while a new one migrates, and a long transaction of it is waited for",
  async (from) => {
    await createRole("nosuperuser");
    await superuser.query(
      `grant attestore_owner, attestore_tenant, attestore_console, attestore_service to ${role}`,
    );
    const all = await readMigrations();
    const before = all.filter(({ version }) => version < from);
    await migrate(as(role), silentLogger, before);
    await run(as(role), "insert into orgs (id, name, slug) values ('org_1', 'One', 'one')");
    const replica = new pg.Pool({ ...as(role), max: 4 });
    replica.on("error", () => undefined);
    let isServing = true;
    /** As before migration 0020: the organisation is set, and nobody becomes another role. */
    const serve = async (): Promise<number> => {
      for (let served = 0; ; served += 1) {
        if (!isServing) return served;
        const client = await replica.connect();
        try {
          await client.query("begin");
          await client.query("select set_config('attestore.org_id', 'org_1', true)");
          await client.query("update agents set name = 'x' where org_id = 'org_1'");
          expect((await client.query("select name from orgs for update")).rows).toEqual([{ name: "One" }]);
          await client.query("commit");
        } finally {
          client.release();
        }
      }
    };
    const served = Promise.all([serve(), serve(), serve()]);
    const held = await replica.connect();
    await held.query("begin");
    await held.query("select from receipts");
    const logger = new RecordingLogger();
    const migrating = migrate(as(role), logger);
    try {
      await expect.poll(() => logger.has("a migration is waiting for tables that are in use")).toBe(true);
      await held.query("commit");
      expect(await migrating).toContain(from);
    } finally {
      held.release();
      isServing = false;
      await Promise.allSettled([migrating, served]);
      await replica.end();
    }
    for (const count of await served) expect(count).toBeGreaterThan(0);
  },
);

test("a role that owns nothing accepts a migrated database, and otherwise the error names who migrates", async () => {
  await createRole("nosuperuser");
  await superuser.query(
    `grant attestore_owner, attestore_tenant, attestore_console, attestore_service to ${role}`,
  );
  const all = await readMigrations();
  await migrate(as(role), silentLogger);
  await superuser.query("alter role attestore_service login");
  expect(await migrate(as("attestore_service"), silentLogger)).toEqual([]);
  const newer = { version: 9999, name: "9999_newer.sql", sql: "select", sha256: "00" };
  await expect(migrate(as("attestore_service"), silentLogger, [...all, newer])).rejects.toThrow(
    "Set ATTESTORE_MIGRATIONS_DATABASE_URL",
  );
  const access = connectDatabase({ connection: as("attestore_service"), log: silentLogger, way: "requests" });
  expect(await readServicePrivileges(access.pool)).toEqual({ role: "attestore_service", excess: [] });
  await access.close();
  const owning = connectDatabase({ connection: as(role), log: silentLogger, way: "requests" });
  expect(await readServicePrivileges(owning.pool)).toEqual({ role, excess: ["owns the tables"] });
  await owning.close();
});
