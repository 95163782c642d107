/**
 * Row-level security: what the database itself shows of others, were a query to forget whose rows
 * it asks for. The tables, and the routes that run without it, come from the database and the
 * service, so that none can be forgotten.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PoolClient } from "pg";
import { sql } from "kysely";
import { apiRoutes } from "../src/features/api-routes.ts";
import { readInOrg, scopeToOrg } from "../src/platform/database/org-scope.ts";
import type { Route } from "../src/platform/http/route/route.ts";
import { startTestService, type TestService } from "./service.ts";
import { nameOf } from "./tenancy/fill.ts";
import { makeWorld, type World } from "./tenancy/world.ts";

/**
 * Tables whose rows belong to the service, not to an organisation. Nobody who is scoped can read
 * them.
 */
const OF_THE_SERVICE = [
  "idempotency_keys",
  "jobs",
  "mail_outbox",
  "one_time_codes",
  "passkey_challenges",
  "passkey_owners",
  "passkeys",
  "rate_limits",
  "recovery_codes",
  "schema_migrations",
  "service_settings",
];

/** What runs as the service's own role, and why that is all right: one line a route. */
const UNSCOPED: Readonly<Record<string, string>> = {
  "POST /api/auth/end-impersonate": "the operator's own session is of no organisation",
  "POST /api/auth/logout": "an impersonator's own session is of no organisation",
  "GET /api/auth/invitations":
    "invitations come from other organisations; it reads by the caller's own address",
  "POST /api/auth/invitations/:userID/accept": "the membership is of another organisation",
  "POST /api/auth/invitations/:userID/decline": "the same",
  "POST /api/auth/switch": "the session is of another organisation; it reads by the caller's own address",
  "GET /api/auth/passkeys":
    "passkeys are a person's, of no organisation; it reads by the caller's own address",
  "POST /api/auth/passkeys/options": "the same",
  "POST /api/auth/passkeys": "the same",
  "PATCH /api/auth/passkeys/:passkeyID": "the same",
  "DELETE /api/auth/passkeys/:passkeyID": "the same; it ends the person's sessions everywhere",
  "POST /api/auth/recovery-codes": "the same",
  "GET /api/auth/me": "operators are of none; it reads by the caller's own ids",
  "GET /api/orgs": "operators see all of them, others those that they belong to",
  "POST /v1/receipts": "one transaction records those of many organisations",
  "POST /v1/events": "one transaction records those of many organisations",
  "POST /v1/heartbeat":
    "of the agent's own row and its organisation's, by the ids of its token; what is new in one runs scoped",
  "POST /v1/commands/:id/progress": "its routine writes its row scoped",
  "GET /v1/commands": "of the agent's own row and commands, by the id of its token, in one statement",
  "GET /v1/backups/:id/receipt": "reads its rows scoped, and the log by the agent's organisation",
  "GET /v1/sources/:id/backups": "reads its rows scoped",
  "GET /v1/log/generations": "reads by the agent's organisation, as the key of each table",
  "GET /v1/log/head": "reads by the agent's organisation, as the key of each table",
  "GET /v1/log/proof": "reads by the agent's organisation, as the key of each table",
};

let service: TestService;
let mine: World;
let theirs: World;
beforeAll(async () => {
  service = await startTestService();
  mine = await makeWorld(service);
  theirs = await makeWorld(service);
});
afterAll(() => service.close());

interface Table {
  name: string;
  has_org: boolean;
  is_isolated: boolean;
  policies: number;
}

async function readTables(): Promise<Table[]> {
  const { rows } = await service.pool.query<Table>(
    `select relname as name, relrowsecurity as is_isolated,
      exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'org_id' and not attisdropped) as has_org,
      (select count(*) from pg_policy where polrelid = pg_class.oid
        and polroles = array[(select oid from pg_roles where rolname = 'attestore_tenant')]
        and polqual is not null and polwithcheck is not null and polcmd = '*') as policies
    from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace order by relname`,
  );
  return rows;
}

const isolated = async (): Promise<string[]> =>
  (await readTables()).filter(({ is_isolated }) => is_isolated).map(({ name }) => name);

/** In a transaction that is undone, as the scope of an organisation, or of none. */
async function asTenant<T>(orgId: string | null, run: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await service.pool.connect();
  try {
    await client.query("begin");
    if (orgId !== null) await client.query("select set_config('attestore.org_id', $1, true)", [orgId]);
    await client.query("set local role attestore_tenant");
    return await run(client);
  } finally {
    await client.query("rollback");
    client.release();
  }
}

const textOf = async (client: PoolClient, table: string): Promise<string[]> =>
  (await client.query<{ line: string }>(`select to_jsonb(t)::text as line from "${table}" as t`)).rows.map(
    ({ line }) => line,
  );

const named = (lines: readonly string[], { secrets }: World): string[] =>
  lines.filter((line) => secrets.some((id) => line.includes(id)));

test("each table with organisations' rows is isolated, and each other table is known to have none", async () => {
  const tables = await readTables();
  expect(tables.length).toBeGreaterThan(25);
  for (const { name, has_org, is_isolated, policies } of tables) {
    expect([name, has_org && !is_isolated]).toEqual([name, false]);
    expect([name, policies]).toEqual([name, is_isolated ? 1 : 0]);
  }
  const others = tables.filter(({ is_isolated }) => !is_isolated).map(({ name }) => name);
  // One that is missing here needs `select attestore_isolate('its_name')` in its migration, or a
  // line above.
  expect(others).toEqual(OF_THE_SERVICE);
});

test("a query that forgets its organisation sees the rows of the call's, and none if none is set", async () => {
  let own = 0;
  for (const table of await isolated()) {
    const { lines, all } = await asTenant(mine.org.id, async (client) => {
      const lines = await textOf(client, table);
      await client.query("set local role none"); // the owner again
      return { lines, all: await textOf(client, table) };
    });
    expect(named(lines, theirs), table).toEqual([]);
    expect(named(lines, mine).length, table).toBe(named(all, mine).length);
    own += named(lines, mine).length;
    const nobodys = await asTenant(null, (client) => textOf(client, table));
    expect([...named(nobodys, mine), ...named(nobodys, theirs)], table).toEqual([]);
  }
  expect(own).toBeGreaterThan(50);
});

test("a change that forgets its organisation changes no row of another, and can add none there", async () => {
  let changes = 0;
  for (const table of await isolated()) {
    await asTenant(mine.org.id, async (client) => {
      const may = "select has_table_privilege($1, 'update') as may";
      if ((await client.query<{ may: boolean }>(may, [table])).rows[0]?.may !== true) return;
      changes += 1;
      const { rows } = await client.query<{ column: string }>(
        "select attname as column from pg_attribute where attrelid = $1::regclass and attnum > 0 order by attnum limit 1",
        [table],
      );
      const column = rows[0]?.column ?? "";
      const { rows: changed } = await client.query<{ line: string }>(
        `update "${table}" as t set "${column}" = "${column}" returning to_jsonb(t)::text as line`,
      );
      expect(
        named(
          changed.map(({ line }) => line),
          theirs,
        ),
        table,
      ).toEqual([]);
    });
  }
  expect(changes).toBeGreaterThan(15);
  const theirAgent = [theirs.agent.id, theirs.org.id];
  await asTenant(mine.org.id, async (client) => {
    const { rowCount } = await client.query(
      "update agents set name = 'x' where id = $1 and org_id = $2",
      theirAgent,
    );
    expect(rowCount).toBe(0);
  });
  const insert = `insert into notification_cursors (org_id, log_index) values ($1, 0)`;
  await expect(
    asTenant(mine.org.id, (client) => client.query(insert, [theirs.org.id])),
  ).rejects.toMatchObject({
    code: "42501",
  });
  const move = "update sources set org_id = $1";
  await expect(asTenant(mine.org.id, (client) => client.query(move, [theirs.org.id]))).rejects.toMatchObject({
    code: "42501",
  });
});

test("the service's own rows are unreadable within an organisation's scope", async () => {
  for (const table of OF_THE_SERVICE)
    await expect(
      asTenant(mine.org.id, (client) => client.query(`select from "${table}"`)),
    ).rejects.toMatchObject({
      code: "42501",
    });
});

describe("the service's own scopes", () => {
  const countAgents = sql<{ count: number }>`select count(*) as count from agents`;

  test("readInOrg and scopeToOrg take the organisation's role, and leave nothing of it on the connection", async () => {
    const all = (await countAgents.execute(service.database)).rows[0]?.count ?? 0;
    const own = await readInOrg(service.database, mine.org.id, async (tx) => countAgents.execute(tx));
    expect(own.rows[0]?.count).toBeLessThan(all);
    await service.database.transaction().execute(async (tx) => {
      await scopeToOrg(tx, mine.org.id);
      expect((await countAgents.execute(tx)).rows).toEqual(own.rows);
    });
    for (let n = 0; n < 20; n += 1)
      expect((await countAgents.execute(service.database)).rows[0]?.count).toBe(all);
  });

  test("each route runs in a scope, except for the known exceptions", () => {
    expect(apiRoutes().filter(runsUnscoped).map(nameOf).sort()).toEqual(Object.keys(UNSCOPED).sort());
  });
});

/**
 * Nothing scopes the handler of its own accord. Handlers of files call `readInOrg` themselves, for
 * each thing that they read.
 */
function runsUnscoped(route: Route): boolean {
  if (route.credential === "anonymous") return false;
  if (route.mode === "write") return route.beyondOrg === true || route.routine !== undefined;
  return route.mode === "read" || route.mode === "submit";
}
