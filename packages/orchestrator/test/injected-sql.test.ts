/**
 * What SQL of somebody's own would see inside the service: in each agent's call and in each job,
 * beside each of their statements, rows of the organisation that the work is about and of no other.
 * What works across organisations is held by name.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { apiRoutes } from "../src/features/api-routes.ts";
import { allJobs } from "./all-jobs.ts";
import { injectingInto, prepareInjection, type Secrets, type Seen } from "./injected-sql.ts";
import { heartbeat, startTestService, type TestService } from "./service.ts";
import { nameOf } from "./tenancy/fill.ts";
import { requestAbout } from "./tenancy/requests.ts";
import { idOf, makeWorld, type World } from "./tenancy/world.ts";

let service: TestService;
let mine: World;
let theirs: World;
let secrets: Secrets;
beforeAll(async () => {
  service = await startTestService();
  mine = await makeWorld(service);
  theirs = await makeWorld(service);
  secrets = { [mine.org.id]: mine.secrets, [theirs.org.id]: theirs.secrets };
  await fillTheRest();
  await prepareInjection(service);
  await listenForCommands();
});
afterAll(() => service.close());

/**
 * The first agent that waits for commands has the service listen for them. It then looks for all
 * that wait, which may be when another call's statements are looked at.
 */
async function listenForCommands(): Promise<void> {
  expect((await mine.agent.get("/v1/commands")).status).toBe(200);
  const listening = async (): Promise<unknown> =>
    (
      await service.pool.query(
        "select from pg_stat_activity where datname = current_database() and state = 'idle' and query ilike 'listen %'",
      )
    ).rowCount;
  await vi.waitFor(async () => expect(await listening()).toBe(1), { timeout: 90_000 });
}

/** A row for each organisation in every table that no call of theirs has filled. */
async function fillTheRest(): Promise<void> {
  await service.pool.query(`
    insert into agent_retired_keys select org_id, id, 'SHA256:former', public_key, created_at, created_at, created_at, '{}' from agents where status = 'revoked';
    insert into agent_witnesses select id, 0, 'a head', null, now() from agents on conflict do nothing;
    insert into archive_files (org_id, file_index, sha256, size_bytes) select org_id, 0, sha256(''), 0 from logs;
    insert into log_emissions select org_id, '2020-01-01', '2020-01-01', 0, sha256(''), 'a head' from logs;
    insert into log_generations select org_id, 2, origin || '/2', origin, 0, sha256(''), 'evt_of_another_log' from logs;
    insert into log_lost_heads select org_id, origin, 1, sha256(''), 'evt_of_another_log' from logs;
    insert into log_tiles select org_id, 60, 0, sha256(''), decode(repeat('00', 8192), 'hex') from logs;
    insert into org_quotas (org_id) select id from orgs;
    insert into scheduled_runs (source_id, kind, scheduled_at, org_id, deadline_at, status, decided_at)
      select id, 'backup', '2020-01-01', org_id, '2020-01-01', 'missed', '2020-01-01' from sources;
    insert into incidents select max(id), org_id, 'backup_missed', (select id from sources where org_id = events.org_id limit 1), null, '2020-01-01', '2020-01-02'
      from events group by org_id;
    insert into notification_incidents select id, org_id, kind, source_id, agent_id, began_at from incidents;
    insert into notification_attempts select id, 1, org_id, now(), 5, 'delivered', 200, 'The receiver took it.' from notification_deliveries;
    insert into notification_channels (id, org_id, kind, user_id, weekly_evidence, created_by, created_at)
      select replace(min(id), 'user_', 'chan_'), org_id, 'email', min(id), true, min(id), '2020-01-01' from users where org_id is not null group by org_id`);
}

/**
 * What an agent's call may run as nobody in particular: whose credential it is, what was answered
 * before, what is written down of calls.
 */
const BESIDE_AGENTS = [
  "agents",
  "api_logs",
  "auth_keys",
  "bootstraps",
  "idempotency_keys",
  "org_quotas",
  "rate_limits",
];
/** Of all agents' calls only these do more than that across organisations, and why. */
const ACROSS: Readonly<Record<string, { role: string; why: string }>> = {
  "POST /v1/heartbeat": { role: "attestore_requests", why: "one statement, by the ids of the token" },
  "GET /v1/commands": { role: "attestore_requests", why: "one statement, by the id of the token" },
  "POST /v1/receipts": { role: "attestore_log", why: "one transaction records those of many organisations" },
  "POST /v1/events": { role: "attestore_log", why: "the same" },
};
/** What jobs write across organisations: what they take to send, what they did, and what is old. */
const WRITTEN_BY_JOBS = [
  "api_logs",
  "bootstraps",
  "config_requests",
  "idempotency_keys",
  "jobs",
  "mail_outbox",
  "notification_deliveries",
  "notification_incidents",
  "notifications",
  "one_time_codes",
  "passkey_challenges",
  "rate_limits",
  "service_settings",
  "sessions",
  "uploads",
];

const tablesIn = (statement: string, tables: readonly string[]): string[] =>
  tables.filter((name) => new RegExp(`\\b${name}\\b`).test(statement.replaceAll('"', "")));

const readTables = async (): Promise<string[]> =>
  (
    await service.pool.query<{ name: string }>(
      "select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace",
    )
  ).rows.map(({ name }) => name);

function expectNothingOfOthers(seen: readonly Seen[]): void {
  for (const { statement, orgId, others } of seen)
    expect([statement, orgId, others]).toEqual([statement, orgId, []]);
}

test("the injected count finds other organisations' rows in every table that has no protection", async () => {
  const { rows } = await service.pool.query<{ found: string[]; tables: string[] }>(
    `select injected_count($1, $2) as found, array(select relname::text from pg_class
      where relkind in ('r', 'p') and relrowsecurity and relnamespace = current_schema()::regnamespace order by relname) as tables`,
    [JSON.stringify(secrets), mine.org.id],
  );
  expect(rows[0]?.found).toEqual(rows[0]?.tables);
});

const ofAgents = apiRoutes().filter(({ credential }) => credential === "agent" || credential === "auth_key");

/**
 * Statements that ran as nobody in particular, or as the sequencer, and name more than what stands
 * beside an agent's call.
 */
async function acrossOrganisations(seen: readonly Seen[]): Promise<{ statement: string; role: string }[]> {
  const tables = (await readTables()).filter((table) => !BESIDE_AGENTS.includes(table));
  return seen.filter(
    ({ role, statement }) => role !== "attestore_tenant" && tablesIn(statement, tables).length > 0,
  );
}

test.each(ofAgents.map((route) => [nameOf(route), route] as const))(
  "%s: beside its statements nothing of another organisation shows",
  async (name, route) => {
    const { call } = requestAbout(route, { about: mine, by: mine, pick: (slot) => idOf(mine, slot) });
    const token = route.credential === "agent" ? mine.agent.token : mine.org.authKey;
    const seen = await injectingInto(secrets, async () => {
      const answer = await service.call({ ...call, token });
      expect(Object.keys(route.answers).map(Number), answer.body.toString()).toContain(answer.status);
    });
    expectNothingOfOthers(seen);
    if (ACROSS[name] === undefined) expect(seen.map(({ orgId }) => orgId)).toContain(mine.org.id);
    const across = await acrossOrganisations(seen);
    expect(across.filter(({ role }) => role !== ACROSS[name]?.role)).toEqual([]);
  },
);

test("a heartbeat's head of the log is read and stored as the agent's own organisation", async () => {
  const { json } = await mine.agent.get("/v1/log/head");
  const seen = await injectingInto(secrets, async () => {
    const sources = [{ slug: "orders", engine: "postgresql" }];
    const answer = await mine.agent.post(
      "/v1/heartbeat",
      heartbeat({ sources, log_head: json["checkpoint"] }),
    );
    expect(answer.status, answer.body.toString()).toBe(200);
  });
  expectNothingOfOthers(seen);
  const kept = seen.find(({ statement }) => statement.startsWith("insert into agent_witnesses"));
  expect(kept?.orgId).toBe(mine.org.id);
  expect(await acrossOrganisations(seen)).toHaveLength(1);
});

test("an operator's call as somebody else is logged as that person's organisation", async () => {
  const operator = await service.signIn(null);
  const started = await operator.post("/api/auth/impersonate", {
    user_id: mine.users.owner.id,
    reason: "a look",
  });
  const token = String(started.json["session_token"]);
  const seen = await injectingInto(secrets, () =>
    service.call({ method: "GET", path: `/api/orgs/${mine.org.id}/sources`, token }),
  );
  expectNothingOfOthers(seen);
  const logged = seen.find(({ statement }) => statement.startsWith("insert into log_leaves"));
  expect(logged?.orgId).toBe(mine.org.id);
});

/** Something to do for each job, in both organisations. */
async function makeDue(): Promise<void> {
  await service.pool.query(`
    update sources set next_backup_at = now() - interval '1 hour', schedule = '{"backup_cron": "0 * * * *"}', retention = '{"keep_last": 1}';
    insert into scheduled_runs (source_id, kind, scheduled_at, org_id, deadline_at)
      select id, 'backup', now() - interval '9 days', org_id, now() - interval '8 days' from sources
      union all select id, 'backup', now() - interval '1 hour', org_id, now() + interval '1 hour' from sources;
    update agents set last_seen_at = now() - interval '9 days', created_at = now() - interval '9 days';
    update notification_channels set url = 'https://127.0.0.1:1/' where kind = 'webhook';
    update backups set status = 'expired', expires_at = now(), removal_due_at = now() - interval '1 hour';
    update uploads set expires_at = now() - interval '9 days';
    update notifications set created_at = now() - interval '91 days' where type = 'drift.detected'`);
}

const seenIn = new Map<string, Seen[]>();

test("jobs: the injected count beside each statement finds nothing of another organisation", async () => {
  await makeDue();
  const now = new Date();
  const signal = new AbortController().signal;
  for (const { name, run } of allJobs(service, service.byClock, { now, signal, quota: 1 })) {
    const context = { now, signal, runningSince: new Date(now.getTime() - 30 * 86_400_000) };
    seenIn.set(name, await injectingInto(secrets, () => run(context)));
  }
  for (const seen of seenIn.values()) expectNothingOfOthers(seen);
});

test("jobs: each does its work as one organisation after the other", () => {
  const OF_ORGANISATIONS = [
    "queue_due",
    "notice_missed",
    "notice_silence",
    "expire_backups",
    "remove_objects",
    "tell_quotas",
    "notify",
    "weekly_evidence",
    "deliver",
  ];
  for (const name of OF_ORGANISATIONS) {
    const worked = new Set(seenIn.get(name)?.map(({ orgId }) => orgId));
    expect([name, worked.has(mine.org.id), worked.has(theirs.org.id)]).toEqual([name, true, true]);
  }
});

test("jobs: across organisations they only look for work, take messages to send, and remove old rows", () => {
  const unscoped = [...seenIn.values()].flat().filter(({ role }) => role === "attestore_jobs");
  expect(unscoped.length).toBeGreaterThan(20);
  const written = new Set<string>();
  for (const { statement } of unscoped)
    for (const [, table = ""] of statement
      .replaceAll('"', "")
      .matchAll(/\b(?:insert into|update|delete from) (\w+)/g))
      if (table !== "skip" && table !== "set") written.add(table);
  expect([...written].filter((table) => !WRITTEN_BY_JOBS.includes(table))).toEqual([]);
});
