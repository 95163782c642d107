import { newId } from "@attestore/contract";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordBackup } from "../../../test/recorded.ts";
import {
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";
import { followLogs } from "../notifications/notices/follow-logs.ts";
import { expireBackups } from "./expire-backups.ts";
import { removeExpiredObjects } from "./remove-objects.ts";

const DAY_MS = 86_400_000;
const DELAY_S = 7 * 86_400;
const { signal } = new AbortController();
let service: TestService;
let org: TestOrg;
let agent: TestAgent;
let owner: TestUser;
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
  agent = await service.attach(org);
  owner = await service.signIn(org);
  const channel = { kind: "email", email: owner.email };
  expect((await owner.post(`/api/orgs/${org.id}/notifications/channels`, channel)).status).toBe(201);
});
afterAll(() => service.close());

const deps = () => ({
  db: service.byClock,
  objects: service.objects,
  logger: service.logger,
  retentionDelay_s: DELAY_S,
  quarantineDays: 30,
});

async function source(retention: object): Promise<string> {
  const { json } = await owner.post(`/api/orgs/${org.id}/sources`, {
    slug: newId("source"),
    engine: "sqlite",
    agent_id: agent.id,
  });
  const id = json["id"] as string;
  await owner.post(`/api/orgs/${org.id}/sources/${id}/configure`, { retention });
  return id;
}

/** One a day, each of 10 MB, the newest of yesterday. */
async function honest(sourceId: string, count: number, by = agent): Promise<string[]> {
  const ids: string[] = [];
  for (let age = 1; age <= count; age += 1) {
    const at = new Date(Date.now() - age * DAY_MS);
    const owned = { orgId: org.id, sourceId, agentId: by.id, at, sizeBytes: 10_000_000 };
    ids.push(await recordBackup(service.database, owned));
  }
  return ids;
}

/**
 * What a host that was taken over can do with its agent's token: real uploads and registrations, of
 * eight bytes each.
 */
async function registerTiny(by: TestAgent, sourceId: string, times: readonly string[]): Promise<void> {
  for (const created_at of times) {
    const upload = await service.upload(by, sourceId, randomBytes(8));
    const body = { ...service.registration(upload, sourceId), created_at };
    expect((await by.post("/v1/backups", body)).status).toBe(201);
  }
}

async function availableOf(ids: readonly string[]): Promise<number> {
  const { rows } = await service.pool.query<{ n: number }>(
    "select count(*)::int as n from backups where id = any($1) and status = 'available'",
    [ids],
  );
  return rows[0]?.n ?? 0;
}

/** Passes over a fortnight, with a week and more between two. */
async function fortnight(): Promise<void> {
  for (const day of [0, 1, 7, 8, 14]) await pass(day);
}

async function pass(day: number): Promise<void> {
  const now = new Date(Date.now() + day * DAY_MS);
  await expireBackups(deps(), { now, signal });
  await removeExpiredObjects(deps(), { now, signal });
}

const preview = async (id: string) =>
  (await owner.get(`/api/orgs/${org.id}/sources/${id}/retention-preview?limit=200`)).json as {
    held: { since: string; hold: Record<string, unknown> } | null;
    items: { backup_id: string; keep: boolean; reasons: { rule: string }[]; expires_at: string | null }[];
  };

const eventsOf = async (id: string, kind: string): Promise<Record<string, unknown>[]> =>
  (await owner.get(`/api/orgs/${org.id}/events?kind=${kind}&source_id=${id}`)).json["items"] as Record<
    string,
    unknown
  >[];

async function told(type: string): Promise<Record<string, unknown>[]> {
  await followLogs(service.byClock, service.envelopes, signal);
  const { rows } = await service.pool.query<{ data: Record<string, unknown> }>(
    "select data from notifications where org_id = $1 and type = $2 order by id",
    [org.id, type],
  );
  return rows.map(({ data }) => data);
}

describe("a host that was taken over", () => {
  test("does not get 19 honest backups removed with 53 backdated ones of eight bytes", async () => {
    const id = await source({ keep_daily: 30, keep_monthly: 24 });
    const ids = await honest(id, 19);
    await service.pool.query("update backups set proven_at = created_at where id = $1", [ids[0]]);
    const days = [...Array(53).keys()].map((n) => new Date(Date.now() - (n * DAY_MS) / 2).toISOString());
    await registerTiny(agent, id, days);
    await fortnight();
    expect(await availableOf(ids)).toBe(19);
  });

  test("stops the retention with a sudden rise of the count, and says so until somebody resumes it", async () => {
    const id = await source({ keep_last: 19 });
    const ids = await honest(id, 19);
    await registerTiny(agent, id, Array(53).fill(new Date().toISOString()));
    await fortnight();
    expect(await availableOf(ids)).toBe(19);
    expect((await preview(id)).held?.hold).toEqual({ reason: "count_rose", last_day: 53, usual_a_day: 1 });
    expect(await eventsOf(id, "retention_held")).toMatchObject([
      { detail: { reason: "count_rose", last_day: 53, usual_a_day: 1, backups: 53 } },
    ]);
    const held = (await told("retention.held")).filter(
      (data) => (data["source"] as { id: string }).id === id,
    );
    expect(held).toMatchObject([{ hold: { reason: "count_rose", last_day: 53 } }]);

    const resume = `/api/orgs/${org.id}/sources/${id}/retention-resume`;
    expect((await (await service.signIn(org, "auditor")).post(resume)).status).toBe(403);
    expect((await owner.post(resume)).status).toBe(200);
    expect((await owner.post(resume)).json["error"]).toBe("conflict");
    await pass(0);
    const { held: after, items } = await preview(id);
    expect(after).toBeNull();
    const announced = items.filter(({ expires_at }) => expires_at !== null);
    expect(announced).toHaveLength(53);
    expect(Date.parse(announced[0]?.expires_at ?? "") - Date.now()).toBeGreaterThan(6.9 * DAY_MS);
  });

  test("stops the retention with small backups, however few and slowly they come", async () => {
    const id = await source({ keep_last: 1 });
    const ids = await honest(id, 3);
    await registerTiny(agent, id, [new Date().toISOString()]);
    await fortnight();
    expect(await availableOf(ids)).toBe(3);
    expect((await preview(id)).held?.hold).toEqual({
      reason: "size_fell",
      newest_bytes: 8,
      removed_bytes: 10_000_000,
    });
  });

  test("gets no backup removed that another agent made before the source moved to it", async () => {
    const id = await source({ keep_last: 5 });
    const ids = await honest(id, 5);
    const hostile = await service.attach(org);
    await owner.post(`/api/orgs/${org.id}/sources/${id}/configure`, { agent_id: hostile.id });
    await registerTiny(hostile, id, Array(5).fill("2020-01-01T00:00:00.000Z"));
    await fortnight();
    expect(await availableOf(ids)).toBe(5);
  });
});

describe("a removal", () => {
  test("is announced in the log, in the API and once to the organisation, a week before; one can be kept", async () => {
    const id = await source({ keep_last: 2 });
    const ids = await honest(id, 5);
    const going = ids.slice(2);
    const before = (await told("retention.announced")).length;
    for (const day of [0, 1, 6]) await pass(day);
    expect(await availableOf(ids)).toBe(5);
    const { items } = await preview(id);
    expect(items.map(({ expires_at }) => expires_at !== null)).toEqual([false, false, true, true, true]);
    const events = await eventsOf(id, "backup_expiring");
    expect(events.map(({ backup_id }) => String(backup_id)).toSorted()).toEqual(going.toSorted());
    expect(events[0]).toMatchObject({ detail: { expires_at: items[4]?.expires_at } });
    const messages = (await told("retention.announced")).slice(before);
    expect(messages).toHaveLength(1);
    expect(messages[0]?.["sources"]).toContainEqual({
      source: expect.objectContaining({ id }),
      backups: 3,
      first_at: items[4]?.expires_at,
    });

    const call = (verb: string, backup: string | undefined, by = owner) =>
      by.post(`/api/orgs/${org.id}/backups/${backup ?? ""}/${verb}`);
    expect((await call("keep", going[0], await service.signIn(org, "auditor"))).status).toBe(403);
    const kept = await call("keep", going[0]);
    expect(kept.json).toMatchObject({ id: going[0], expires_at: null, kept_at: expect.any(String) });
    expect((await call("keep", going[0])).json).toEqual(kept.json);
    await pass(7.1);
    expect(await availableOf(going)).toBe(1);
    expect((await preview(id)).items.at(-1)).toMatchObject({
      backup_id: going[0],
      keep: true,
      reasons: [{ rule: "kept" }],
    });
    expect((await call("keep", going[1])).json["error"]).toBe("conflict");
    expect(await eventsOf(id, "backup_kept")).toHaveLength(1);

    expect((await call("release", going[0])).json).not.toHaveProperty("kept_at");
    await pass(8);
    expect(await availableOf(going)).toBe(1);
    await pass(15.1);
    expect(await availableOf(going)).toBe(0);
  });

  test("is withdrawn when the rules keep the backup after all", async () => {
    const id = await source({ keep_last: 1 });
    const ids = await honest(id, 3);
    await pass(0);
    await owner.post(`/api/orgs/${org.id}/sources/${id}/configure`, { retention: { keep_last: 3 } });
    await pass(8);
    expect(await availableOf(ids)).toBe(3);
    expect((await preview(id)).items.every(({ expires_at }) => expires_at === null)).toBe(true);
    expect(await eventsOf(id, "backup_removal_withdrawn")).toHaveLength(2);
  });
});
