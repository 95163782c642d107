import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { noticeMissed } from "../src/features/schedules/notice-missed.ts";
import { noticeSilence } from "../src/features/schedules/notice-silence.ts";
import { queueDue } from "../src/features/schedules/queue-due.ts";
import { recordBackup } from "./recorded.ts";
import {
  heartbeat,
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
  type TestUser,
} from "./service.ts";

export const HOUR_MS = 3_600_000;
export const INTERVAL_S = 60;
export const SILENT = 10;

export let service: TestService;
export let org: TestOrg;
export let agent: TestAgent;
export let owner: TestUser;
export let now: Date;
let watching: Date;
export const { signal } = new AbortController();

/**
 * For a file of tests: a service whose clock is `now`, and for each test an organisation with an
 * agent and an owner.
 */
export function useScheduledOrg(): void {
  beforeAll(async () => {
    service = await startTestService({ clock: () => now });
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    at("2026-03-01T00:00:00Z");
    watchFromNow();
    // Agents of the tests before must not be heard of in this one.
    await service.pool.query("update agents set status = 'revoked', revoked_at = now()");
    await addOrg();
  });
}

/** From then on, the tests are about it. */
export async function addOrg(): Promise<void> {
  org = await service.addOrg();
  agent = await service.attach(org);
  owner = await service.signIn(org);
  await service.pool.query("update agents set created_at = $1, last_seen_at = $1", [now]);
}

/** As if the service had been away until now. */
export const watchFromNow = (): Date => (watching = now);

export const at = (time: string): Date => (now = new Date(time));
export const after = (ms: number): Date => (now = new Date(now.getTime() + ms));

export const deps = () => ({
  db: service.byClock,
  clock: () => now,
  logger: service.logger,
  scheduleGrace_s: 7200,
  scheduleJitter_s: 0,
  heartbeatInterval_s: INTERVAL_S,
  silentAfterIntervals: SILENT,
});

export const tick = async (): Promise<void> => {
  await queueDue(deps(), { now, signal });
  await noticeMissed(deps(), { now, signal });
};
export const listen = () => noticeSilence(deps(), { now, signal, runningSince: watching });

export async function scheduled(schedule: Record<string, unknown>): Promise<string> {
  const registered = await owner.post(`/api/orgs/${org.id}/sources`, {
    slug: `s${Math.random().toString(36).slice(2)}`,
    engine: "postgresql",
    agent_id: agent.id,
  });
  const id = registered.json["id"] as string;
  const answer = await owner.post(`/api/orgs/${org.id}/sources/${id}/configure`, { schedule });
  expect(answer.status, answer.body.toString()).toBe(200);
  return id;
}

export const backup = (sourceId: string, time = now) =>
  recordBackup(service.database, { orgId: org.id, sourceId, agentId: agent.id, at: time });

export const beat = async (acks: string[] = []): Promise<{ id: string; kind: string }[]> =>
  (await agent.post("/v1/heartbeat", heartbeat({ acks: acks.map((command_id) => ({ command_id })) }))).json[
    "commands"
  ] as { id: string; kind: string }[];

export async function items(path: string): Promise<Record<string, unknown>[]> {
  const answer = await owner.get(path);
  expect(answer.status, answer.body.toString()).toBe(200);
  return answer.json["items"] as Record<string, unknown>[];
}
export const commands = (sourceId: string) => items(`/api/orgs/${org.id}/commands?source_id=${sourceId}`);
export const events = (kind: string) => items(`/api/orgs/${org.id}/events?kind=${kind}`);
export const incidents = (query = "") => items(`/api/orgs/${org.id}/incidents${query}`);

export const runs = async (sourceId: string): Promise<[string, string][]> => {
  const rows = await service.database
    .selectFrom("scheduled_runs")
    .select(["scheduled_at", "status"])
    .where("source_id", "=", sourceId)
    .orderBy("scheduled_at")
    .execute();
  return rows.map(({ scheduled_at, status }) => [scheduled_at.toISOString().slice(0, 16), status]);
};
