import type { Suspicion } from "@attestore/proof";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { makeHistory, testAgain } from "../../../../test/history.ts";
import { recordBackup } from "../../../../test/recorded.ts";
import {
  heartbeat,
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../../test/service.ts";
import { noticeMissed } from "../../schedules/notice-missed.ts";
import { noticeSilence } from "../../schedules/notice-silence.ts";
import { followLogs } from "./follow-logs.ts";
import { noticeEnds } from "./notice-ends.ts";
import { removeOld } from "../deliveries/remove-old.ts";

let service: TestService;
let org: TestOrg;
let owner: TestUser;
let agent: TestAgent;
const { signal } = new AbortController();
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());
beforeEach(async () => {
  org = await service.addOrg();
  owner = await service.signIn(org);
  agent = await service.attach(org);
});

interface Told {
  type: string;
  data: {
    org: { id: string };
    source?: { id: string; slug: string };
    agent?: { id: string };
    incident?: { id: string; kind: string; ended_at: string | null; resolution?: string };
    [more: string]: unknown;
  };
}

async function addChannel(types?: string[]): Promise<string> {
  const { json, status } = await owner.post(`/api/orgs/${org.id}/notifications/channels`, {
    kind: "webhook",
    url: "https://hooks.example.org/",
    ...(types === undefined ? {} : { types }),
  });
  expect(status).toBe(201);
  return json["id"] as string;
}

/** As several replicas would run it at once. */
async function run(): Promise<void> {
  const once = async (): Promise<void> => {
    await followLogs(service.byClock, service.envelopes, signal);
    await noticeEnds(service.byClock, signal);
  };
  await Promise.all([once(), once(), once()]);
  await once();
}

/** All that was told a channel, in its order. */
async function told(channelId: string): Promise<Told[]> {
  await run();
  const { rows } = await service.pool.query<Told>(
    `select type, data from notification_deliveries as delivery join notifications on notifications.id = notification_id
     where channel_id = $1 order by notifications.created_at`,
    [channelId],
  );
  return rows;
}
const types = async (channelId: string): Promise<string[]> => (await told(channelId)).map(({ type }) => type);

/** What failed an hour ago, unless it is told when. */
const report = async (kind: string, more: object = {}): Promise<string> => {
  const { status, json } = await agent.post("/v1/events", {
    kind,
    occurred_at: new Date(Date.now() - 3_600_000).toISOString(),
    detail: { reason: "no space left on device" },
    ...more,
  });
  expect(status).toBe(201);
  return json["event_id"] as string;
};

async function source(slug = "orders"): Promise<string> {
  const beat = await agent.post("/v1/heartbeat", heartbeat({ sources: [{ slug, engine: "postgresql" }] }));
  return (beat.json["sources"] as { id: string }[])[0]?.id ?? "";
}

test("the list of sent messages names the source or agent", async () => {
  const channel = await addChannel();
  const source_id = await source("ledger");
  await report("backup_failed", { source_id });
  const newcomer = await service.attach(org);
  await run();
  const path = `/api/orgs/${org.id}/notifications/deliveries?channel_id=${channel}`;
  const items = (await owner.get(path)).json["items"] as { type: string; subject: unknown }[];
  expect(Object.fromEntries(items.map(({ type, subject }) => [type, subject]))).toEqual({
    "agent.attached": { kind: "agent", id: newcomer.id, name: "host-1" },
    "backup.failed": { kind: "source", id: source_id, name: "ledger" },
  });
});

test("a failure is notified once, however often it fails, and so is its recovery", async () => {
  const channel = await addChannel();
  const source_id = await source();
  const first = await report("backup_failed", { source_id });
  await report("backup_failed", { source_id });
  await run();
  await report("backup_failed", { source_id });
  expect(await told(channel)).toMatchObject([
    {
      type: "backup.failed",
      data: {
        org: { id: org.id },
        source: { id: source_id, slug: "orders" },
        incident: { id: first, kind: "backup_failed", ended_at: null },
        event_id: first,
        cause: { reason: "told_by_the_agent" },
      },
    },
  ]);
  await makeHistory(service, org, { agent });
  await makeHistory(service, org, { agent });
  const messages = await told(channel);
  expect(messages.map(({ type }) => type)).toEqual(["backup.failed", "backup.recovered"]);
  expect(messages[1]?.data.incident).toMatchObject({ id: first, resolution: "recovered" });
  await report("backup_failed", { source_id });
  expect((await types(channel)).at(-1)).toBe("backup.failed");
});

test('"failed" and "could not run" are separate incidents, and neither ends until a test passes', async () => {
  const channel = await addChannel();
  const source_id = await source();
  await report("restore_failed", { source_id });
  expect(await types(channel)).toEqual(["restore_test.could_not_run"]);
  // As `verdict.ts` of the agent words it: the reason quotes what the check saw.
  const reason = 'check has-orders failed: expected n >= 1000, observed {"n":1234}';
  await makeHistory(service, org, { agent, result: "failed", reason });
  const messages = await told(channel);
  expect(messages.map(({ type }) => type)).toEqual([
    "restore_test.could_not_run",
    "incident.ended",
    "restore_test.failed",
  ]);
  expect(messages[1]?.data.incident).toMatchObject({ resolution: "failed" });
  expect(messages[2]?.data).toMatchObject({
    cause: { reason: "check_failed" },
    failed_checks: [{ id: "has-orders", expectation: "n >= 1000" }],
  });
  // The value that the check saw may be data.
  expect(JSON.stringify(messages)).not.toContain("1234");
  await makeHistory(service, org, { agent });
  expect((await types(channel)).slice(3)).toEqual(["restore_test.recovered"]);
});

test("a pass of an old backup does not end the incident of a newer one that failed", async () => {
  const channel = await addChannel();
  const history = await makeHistory(service, org, { agent, backups: 2 });
  const [old, newest] = history.backups;
  if (old === undefined || newest === undefined) throw new Error("two backups were made");
  const before = (await types(channel)).length;
  await testAgain(history, newest, "failed");
  await testAgain(history, old, "passed");
  expect((await types(channel)).slice(before)).toEqual(["restore_test.failed"]);
  await testAgain(history, newest, "passed");
  expect((await types(channel)).slice(before)).toEqual(["restore_test.failed", "restore_test.recovered"]);
});

test("suspicious data is notified once, and again when something else is suspicious", async () => {
  const channel = await addChannel();
  const history = await makeHistory(service, org, { agent });
  const [backup] = history.backups;
  if (backup === undefined) throw new Error("a backup was made");
  const before = (await types(channel)).length;
  const test = (result: "passed" | "failed", ...suspicious: Suspicion[]) =>
    testAgain(history, backup, result, { profile: { v: 1, tables: [], left_out: 0, suspicious } });
  const note: Suspicion = { table: "public.orders", column: "note", measure: "random", now: 12, before: 0 };
  await test("passed");
  await test("failed", note);
  await test("passed", note);
  await test("passed", { ...note, now: 13 });
  const named = (await told(channel)).slice(before);
  expect(named.map(({ type }) => type).filter((type) => type.endsWith("suspicious"))).toHaveLength(1);
  expect(named.at(-1)).toMatchObject({
    data: { source: { id: history.sourceId }, suspicious: [note], suspicious_count: 1 },
  });
  await test("passed", note, {
    ...note,
    column: "x".repeat(600),
    measure: "newest",
    now: "2026-01-01",
    before: "2026-11-01",
  });
  const again = (await told(channel)).at(-1);
  expect(again).toMatchObject({ type: "restore_test.suspicious", data: { suspicious_count: 2 } });
  expect(JSON.stringify(again?.data).length).toBeLessThan(2000);
});

test("a late receipt of a run before the failure does not end the incident", async () => {
  const channel = await addChannel();
  const source_id = await source();
  for (const kind of ["backup_failed", "restore_failed"]) await report(kind, { source_id });
  const later = { source_id, occurred_at: new Date().toISOString() };
  for (const kind of ["backup_failed", "restore_failed"]) await report(kind, later);
  const begun = ["backup.failed", "restore_test.could_not_run"];
  expect(await types(channel)).toEqual(begun);
  await makeHistory(service, org, { agent });
  expect(await types(channel)).toEqual(begun);
  await service.pool.query(
    "update events set occurred_at = created_at - interval '1 hour' where source_id = $1",
    [source_id],
  );
  await makeHistory(service, org, { agent, result: "failed" });
  expect((await types(channel)).slice(2)).toEqual([
    "backup.recovered",
    "incident.ended",
    "restore_test.failed",
  ]);
  // As if it had failed after those that come now had run.
  const failed = "update receipts set happened_at = created_at where source_id = $1 and result = 'failed'";
  await service.pool.query(failed, [source_id]);
  await makeHistory(service, org, { agent });
  expect((await types(channel)).slice(5)).toEqual([]);
  await service.pool.query(
    "update receipts set happened_at = happened_at - interval '1 hour' where source_id = $1 and result = 'failed'",
    [source_id],
  );
  await makeHistory(service, org, { agent });
  expect((await types(channel)).slice(5)).toEqual(["restore_test.recovered"]);
});

const schedules = () => ({
  db: service.byClock,
  clock: () => new Date(),
  logger: service.logger,
  scheduleGrace_s: 7200,
  scheduleJitter_s: 0,
  heartbeatInterval_s: 60,
  silentAfterIntervals: 10,
});

test("missed runs and silent agents: begin and end are notified, also when both were seen late", async () => {
  const channel = await addChannel();
  const source_id = await source();
  await service.pool.query(
    `update sources set schedule = '{"backup_cron": "0 2 * * *", "timezone": "UTC"}' where id = $1`,
    [source_id],
  );
  const notice = () => noticeMissed(schedules(), { now: new Date(), signal });
  const miss = async (hours: number): Promise<void> => {
    const at = new Date(Date.now() - hours * 3_600_000);
    await service.pool.query(
      `insert into scheduled_runs (source_id, kind, scheduled_at, org_id, deadline_at) values ($1, 'backup', $2, $3, $2)`,
      [source_id, at, org.id],
    );
    await notice();
  };
  const arrive = (hours: number): Promise<string> =>
    recordBackup(service.database, {
      orgId: org.id,
      sourceId: source_id,
      agentId: agent.id,
      at: new Date(Date.now() - hours * 3_600_000),
    });
  await miss(10);
  expect(await types(channel)).toEqual(["backup.missed"]);
  await miss(9);
  expect(await types(channel)).toEqual(["backup.missed"]);
  await arrive(8);
  // Nobody looked meanwhile: the first is over, and the next one has begun.
  await miss(5);
  const messages = await told(channel);
  expect(messages.map(({ type }) => type)).toEqual(["backup.missed", "backup.recovered", "backup.missed"]);
  expect(messages[1]?.data.incident?.id).toBe(messages[0]?.data.incident?.id);
  expect((await owner.delete(`/api/orgs/${org.id}/sources/${source_id}`)).status).toBe(200);
  await notice();
  const after = await told(channel);
  expect(after.slice(3).map(({ type, data }) => [type, data.incident?.resolution])).toEqual([
    ["incident.ended", "withdrawn"],
  ]);
});

const listen = () => noticeSilence(schedules(), { now: new Date(), signal, runningSince: new Date(0) });

const silence = async (...agents: TestAgent[]): Promise<void> => {
  await service.pool.query("update agents set last_seen_at = now() - interval '1 day' where id = any($1)", [
    agents.map(({ id }) => id),
  ]);
  await listen();
};

test("an end that cannot be notified delays no other", async () => {
  const channel = await addChannel(["agent.recovered"]);
  const other = await service.attach(org);
  await silence(agent, other);
  // The one that ends first is the one that is broken.
  for (const heard of [agent, other]) {
    await heard.post("/v1/heartbeat", heartbeat());
    await listen();
  }
  await followLogs(service.byClock, service.envelopes, signal);
  await service.pool.query(`
    create function broken() returns trigger language plpgsql as $$ begin
      if new.agent_id = '${agent.id}' then raise exception 'broken'; end if; return new; end $$;
    create trigger broken before update on notification_incidents for each row execute function broken()`);
  await expect(noticeEnds(service.byClock, signal)).rejects.toThrow("broken");
  const { rows } = await service.pool.query(
    "select data -> 'agent' ->> 'id' as id from notifications where org_id = $1",
    [org.id],
  );
  await service.pool.query("drop function broken cascade");
  expect(rows).toEqual([{ id: other.id }]);
  expect(await types(channel)).toEqual(["agent.recovered", "agent.recovered"]);
});

test("notifies a silent agent, and one that reports again", async () => {
  const channel = await addChannel(["agent.silent", "agent.recovered"]);
  await silence(agent);
  expect(await told(channel)).toMatchObject([{ type: "agent.silent", data: { agent: { id: agent.id } } }]);
  await agent.post("/v1/heartbeat", heartbeat());
  await listen();
  expect(await types(channel)).toEqual(["agent.silent", "agent.recovered"]);
});

test("notifies new agents, drift, and runs that cannot be attested", async () => {
  const channel = await addChannel([
    "agent.attached",
    "drift.detected",
    "attestation.failed",
    "attestation.recovered",
  ]);
  const newcomer = await service.attach(org);
  expect(await told(channel)).toMatchObject([
    {
      type: "agent.attached",
      data: { agent: { id: newcomer.id }, key_fingerprint: expect.stringContaining("SHA256:") },
    },
  ]);
  await makeHistory(service, org, { agent });
  await service.pool.query(
    "update backups set source_metadata = source_metadata || jsonb_build_object('schema_hash', repeat('cd', 32)) where org_id = $1",
    [org.id],
  );
  await makeHistory(service, org, { agent });
  expect((await told(channel)).slice(1)).toMatchObject([
    {
      type: "drift.detected",
      data: { indicators: [{ kind: "schema", field: "schema_hash" }], indicator_count: 1 },
    },
  ]);
  const others = (kinds: Record<string, number>, named: [kind: string, name: string][], digit: string) => ({
    schema_summary: { objects: [], omitted: 0 },
    other_objects: { sha256: digit.repeat(64), kinds, named },
  });
  const had = others(
    { trigger: 2 },
    [
      ["trigger", "a"],
      ["trigger", "b"],
    ],
    "1",
  );
  await makeHistory(service, org, { agent, metadata: had });
  expect(await told(channel)).toHaveLength(2);
  await makeHistory(service, org, { agent, metadata: others({ trigger: 1 }, [["trigger", "a"]], "2") });
  expect((await told(channel)).slice(2)).toMatchObject([
    {
      type: "drift.detected",
      data: { indicators: [{ field: "other_objects", changes: { removed: ["trigger b"] } }] },
    },
  ]);
  await report("attestation_failed");
  await report("attestation_failed");
  await makeHistory(service, org, { agent });
  expect((await types(channel)).slice(3)).toEqual(["attestation.failed", "attestation.recovered"]);
});

test("output of a host's tools is not sent, and delays nobody's messages", async () => {
  const channel = await addChannel();
  const elsewhere = await service.addOrg();
  const others = await service.signIn(elsewhere);
  const path = `/api/orgs/${elsewhere.id}/notifications/channels`;
  const url = "https://hooks.example.org/";
  const theirs = (await others.post(path, { kind: "webhook", url })).json["id"] as string;
  const printed = "pg_restore: error: duplicate key: Key (email)=(grace@example.org)";
  // Of the one half is cut off, the other is no text of PostgreSQL's.
  const check = { id: "nul\0", expectation: `${"x".repeat(499)}😀 and more` };
  await makeHistory(service, org, { agent, slug: "tested", result: "failed", reason: printed, check });
  const source_id = await source("dumped");
  for (const [kind, detail] of [
    ["backup_failed", { reason: "engine_failed", message: printed, why: printed }],
    ["restore_failed", { reason: printed, message: printed, runs: printed, last_seen_at: printed }],
    ["attestation_failed", { reason: "receipt_refused", why: printed, receipt: 3 }],
  ] as const)
    await report(kind, kind === "attestation_failed" ? { detail } : { source_id, detail });
  await makeHistory(service, elsewhere, { result: "failed" });
  const messages = await told(channel);
  expect(messages.map(({ type, data }) => [type, data["cause"]])).toEqual([
    ["restore_test.failed", { reason: "check_failed" }],
    ["backup.failed", { reason: "engine_failed" }],
    ["restore_test.could_not_run", { reason: "told_by_the_agent" }],
    ["attestation.failed", { reason: "receipt_refused" }],
  ]);
  expect(messages[0]?.data["failed_checks"]).toEqual([
    { id: "nul\ufffd", expectation: `${"x".repeat(499)}\ufffd…` },
  ]);
  expect(JSON.stringify(messages)).not.toContain("grace@");
  expect(await types(theirs)).toContain("restore_test.failed");
});

test("a log whose entries cannot be notified delays no other", async () => {
  const channel = await addChannel();
  const elsewhere = await service.addOrg();
  const others = await service.signIn(elsewhere);
  const path = `/api/orgs/${elsewhere.id}/notifications/channels`;
  await others.post(path, { kind: "webhook", url: "https://hooks.example.org/" });
  const source_id = await source();
  await report("backup_failed", { source_id });
  const { agent: theirs } = await makeHistory(service, elsewhere, { result: "failed" });
  // Whichever comes first.
  for (const [broken, whole] of [
    [elsewhere, org],
    [org, elsewhere],
  ] as const) {
    await service.pool.query(`
      create function broken() returns trigger language plpgsql as $$ begin
        if new.org_id = '${broken.id}' then raise exception 'broken'; end if; return new; end $$;
      create trigger broken before insert or update on notification_cursors for each row execute function broken()`);
    await expect(followLogs(service.byClock, service.envelopes, signal)).rejects.toThrow("broken");
    const { rows } = await service.pool.query(
      "select log_index = tree_size as is_told from notification_cursors join logs using (org_id) where org_id = $1",
      [whole.id],
    );
    expect(rows).toEqual([{ is_told: true }]);
    await service.pool.query("drop function broken cascade");
    await report("backup_failed", { source_id });
    await makeHistory(service, elsewhere, { agent: theirs, result: "failed" });
  }
  expect(await types(channel)).toEqual(["backup.failed"]);
});

test("events before the first channel are not sent, and each channel gets the types it asked for", async () => {
  const source_id = await source();
  await report("backup_failed", { source_id });
  const all = await addChannel();
  const some = await addChannel(["backup.recovered"]);
  const off = await addChannel();
  await owner.patch(`/api/orgs/${org.id}/notifications/channels/${off}`, { status: "disabled" });
  expect(await types(all)).toEqual([]);
  await report("backup_failed", { source_id });
  await makeHistory(service, org, { agent });
  expect(await types(all)).toEqual(["backup.failed", "backup.recovered"]);
  expect(await types(some)).toEqual(["backup.recovered"]);
  expect(await types(off)).toEqual([]);
});

test("a notification interrupted anywhere is sent once by the next run", async () => {
  const channel = await addChannel();
  const source_id = await source();
  await report("backup_failed", { source_id });
  // The first three statements of each kind fail in turn, as a crash would end the transaction
  // there.
  for (const table of [
    "notification_incidents",
    "notifications",
    "notification_deliveries",
    "notification_cursors",
  ]) {
    await service.pool.query(`
      create function cut_off() returns trigger language plpgsql as $$ begin raise exception 'cut off'; end $$;
      create trigger cut_off after insert or update on ${table} execute function cut_off()`);
    await expect(followLogs(service.byClock, service.envelopes, signal)).rejects.toThrow("cut off");
    await service.pool.query("drop function cut_off cascade");
  }
  const { rows } = await service.pool.query("select from notifications where org_id = $1", [org.id]);
  expect(rows).toEqual([]);
  expect(await types(channel)).toEqual(["backup.failed"]);
});

test("a message is removed after 90 days and not sent again", async () => {
  const channel = await addChannel();
  const source_id = await source();
  await report("backup_failed", { source_id });
  await makeHistory(service, org, { agent });
  expect(await types(channel)).toHaveLength(2);
  await removeOld(service.byClock, { now: new Date(Date.now() + 89 * 86_400_000), signal });
  expect(await types(channel)).toHaveLength(2);
  await removeOld(service.byClock, { now: new Date(Date.now() + 91 * 86_400_000), signal });
  expect(await types(channel)).toEqual([]);
  const { rows } = await service.pool.query("select from notification_incidents where org_id = $1", [org.id]);
  expect(rows).toEqual([]);
});
