/**
 * What an organisation may store and do: attacked with uploads at once on two replicas, uploads
 * that never end, and calls without end.
 */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { attachBody, heartbeat, startTestService } from "../../../test/service.ts";
import type { Replica, TestAgent, TestOrg, TestService, TestUser, Upload } from "../../../test/service.ts";
import type { Answer } from "../../../test/client.ts";
import { abortAbandonedUploads, forgetEmptyUploads } from "../backups/abandoned-uploads.ts";
import { sweepObjects } from "../retention/sweep-objects.ts";
import { silentLogger } from "../../platform/logging/logger.ts";
import { quotaDefaults } from "./settings.ts";
import { notifyQuotas } from "./warn-of-quotas.ts";

const QUOTAS = { bytes: 10_000, objects: 5, agents: 2, requests: 100_000, window_s: 60 };
const DAY_MS = 86_400_000;

let service: TestService;
let replica: Replica;
let operator: TestUser;
let org: TestOrg;
let agent: TestAgent;
let owner: TestUser;
let sourceId: string;
beforeAll(async () => {
  service = await startTestService({ quotas: QUOTAS, parts: { singlePutLimitBytes: 8000, partBytes: 5000 } });
  replica = await service.listen();
  operator = await service.signIn(null);
});
afterAll(async () => {
  await replica.close();
  await service.close();
});
beforeEach(async () => {
  org = await service.addOrg();
  agent = await service.attach(org);
  owner = await service.signIn(org);
  const beat = await agent.post(
    "/v1/heartbeat",
    heartbeat({ sources: [{ slug: "orders", engine: "postgresql" }] }),
  );
  sourceId = (beat.json["sources"] as { id: string }[])[0]?.id ?? "";
});

const request = (size: number): object => ({
  source_id: sourceId,
  sha256: createHash("sha256").update(randomUUID()).digest("hex"),
  size_bytes: size,
});
const ask = (size: number, at: Replica = service): Promise<Answer> =>
  at.call({ method: "POST", path: "/v1/backups/upload-url", token: agent.token, json: request(size) });
const store = async (size: number): Promise<Answer> => {
  const upload = await service.upload(agent, sourceId, randomBytes(size));
  return agent.post("/v1/backups", service.registration(upload, sourceId));
};
const quotas = async (): Promise<Record<string, { used: number; limit: number | null }>> =>
  (await owner.get(`/api/orgs/${org.id}/quotas`)).json as never;
const set = (change: object): Promise<Answer> => operator.patch(`/api/orgs/${org.id}/quotas`, change);

describe("stored bytes", () => {
  test("uploads at once, on two replicas, never pass the quota together", async () => {
    await set({ objects: null });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => ask(1000, n % 2 === 0 ? service : replica)),
    );
    const taken = answers.filter(({ status }) => status === 201);
    expect(taken).toHaveLength(10);
    for (const { status, json } of answers)
      if (status !== 201)
        expect([status, json["error"], json["details"]]).toEqual([
          403,
          "quota_exceeded",
          { quota: "bytes", limit: 10_000, used: 10_000, asked: 1000 },
        ]);
    expect((await quotas())["bytes"]).toEqual({ used: 10_000, limit: 10_000, default: 10_000 });
  });

  test("count from the announcement until the object is gone, once", async () => {
    expect((await store(6000)).status).toBe(201);
    expect((await quotas())["bytes"]).toMatchObject({ used: 6000 });
    expect((await ask(4001)).status).toBe(403);
    expect((await ask(4000)).status).toBe(201);
    expect((await ask(1)).status).toBe(403);
    await service.pool.query("update backups set object_removed_at = now() where org_id = $1", [org.id]);
    expect((await quotas())["bytes"]).toMatchObject({ used: 4000 });
    expect((await ask(6000)).status).toBe(201);
  });

  test("an upload that was admitted is registered, whatever the quota is by then", async () => {
    const upload = await service.upload(agent, sourceId, randomBytes(6000));
    await set({ bytes: 0 });
    const registered = await agent.post("/v1/backups", service.registration(upload, sourceId));
    expect(registered.status).toBe(201);
    expect((await quotas())["bytes"]).toMatchObject({ used: 6000, limit: 0 });
    // Objects that are there stay, and can be read.
    const id = registered.json["id"] as string;
    expect((await agent.post(`/v1/backups/${id}/download-url`, {})).status).toBe(200);
  });

  test("a refusal is not remembered: the same call succeeds when there is room", async () => {
    const json = request(10_001);
    const idempotencyKey = randomUUID();
    const again = (): Promise<Answer> => agent.post("/v1/backups/upload-url", json, { idempotencyKey });
    expect((await again()).status).toBe(403);
    expect((await set({ bytes: 20_000 })).status).toBe(200);
    expect((await again()).status).toBe(201);
  });

  test("a refused upload in parts leaves nothing in the store", async () => {
    expect((await ask(10_001)).status).toBe(403);
    const begun = [];
    for await (const { key } of service.objects.multipart.list()) begun.push(key);
    expect(begun.filter((key) => key.startsWith(org.id))).toEqual([]);
  });

  test("an agent that is killed after it asked holds its room for a day, and not for ever", async () => {
    await set({ bytes: 20_000 });
    const whole = (await ask(6000)).json as unknown as Upload;
    const inParts = (await ask(9000)).json as unknown as Upload;
    const deps = { db: service.database, objects: service.objects, logger: silentLogger };
    await forgetEmptyUploads(deps, new Date(Date.now() + DAY_MS));
    expect((await quotas())["bytes"]).toMatchObject({ used: 15_000 });
    const later = new Date(Date.now() + DAY_MS + 20 * 60_000);
    await forgetEmptyUploads(deps, later);
    // Parts may be there, and take room, until they are aborted.
    expect((await quotas())["bytes"]).toMatchObject({ used: 9000 });
    await abortAbandonedUploads(deps, later);
    await forgetEmptyUploads(deps, later);
    expect((await quotas())["bytes"]).toMatchObject({ used: 0 });
    for (const upload of [whole, inParts])
      expect((await agent.post("/v1/backups", service.registration(upload, sourceId))).status).toBe(404);
  });

  test("an upload that was never registered counts until it is removed, in quarantine too", async () => {
    await service.upload(agent, sourceId, randomBytes(6000));
    const deps = { db: service.database, objects: service.objects, logger: silentLogger, quarantineDays: 30 };
    const at = (days: number) => ({
      now: new Date(Date.now() + days * DAY_MS),
      signal: new AbortController().signal,
    });
    expect(await forgetEmptyUploads(deps, at(2).now)).toBe(0);
    await sweepObjects(deps, at(2), { confirmed: true });
    expect((await quotas())["bytes"]).toMatchObject({ used: 6000 });
    await sweepObjects(deps, at(33), { confirmed: true });
    expect((await quotas())["bytes"]).toMatchObject({ used: 0 });
  });

  test("receipts, events and reads continue when the quota is used up", async () => {
    await set({ bytes: 0, objects: 0 });
    expect((await ask(1)).status).toBe(403);
    const event = { kind: "backup_failed", source_id: sourceId, occurred_at: new Date().toISOString() };
    expect((await agent.post("/v1/events", { ...event, detail: {} })).status).toBe(201);
    expect((await agent.post("/v1/heartbeat", heartbeat())).status).toBe(200);
    expect((await owner.get(`/api/orgs/${org.id}/backups`)).status).toBe(200);
  });
});

test("backups are counted one by one", async () => {
  for (let n = 0; n < 5; n++) expect((await ask(1)).status).toBe(201);
  const refused = await ask(1);
  expect([refused.status, refused.json["details"]]).toEqual([
    403,
    { quota: "objects", limit: 5, used: 5, asked: 1 },
  ]);
});

describe("agents", () => {
  const attach = (at: Replica = service): Promise<Answer> =>
    at.call({ method: "POST", path: "/api/bootstrap/attach", token: org.authKey, json: attachBody() });

  test("at once, on two replicas, never pass the quota together; a revoked one makes room", async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => attach(n % 2 === 0 ? service : replica)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(9);
    expect((await attach()).json).toMatchObject({ error: "quota_exceeded", details: { quota: "agents" } });
    expect((await owner.post(`/api/orgs/${org.id}/agents/${agent.id}/revoke`, {})).status).toBe(200);
    expect((await attach()).status).toBe(201);
  });

  test("that a person lets in count too; the attach keeps waiting", async () => {
    await set({ agents: 1 });
    const begun = await service.call({ method: "POST", path: "/api/bootstrap/start", json: attachBody() });
    const path = `/api/orgs/${org.id}/bootstraps/${begun.json["code"] as string}`;
    expect((await owner.post(`${path}/approve`, {})).json["error"]).toBe("quota_exceeded");
    await set({ agents: 2 });
    expect((await owner.post(`${path}/approve`, {})).json["status"]).toBe("approved");
  });
});

describe("calls", () => {
  test("of an organisation are counted together, on every replica; receipts, events and heartbeats are not", async () => {
    await service.database
      .insertInto("org_quotas")
      .values({ org_id: org.id, requests: 5 })
      .onConflict((conflict) => conflict.column("org_id").doUpdateSet({ requests: 5 }))
      .execute();
    const other = await service.attach(await service.addOrg());
    // The limit is known to a replica for some seconds.
    await expect
      .poll(
        async () => {
          const answers = [];
          for (const at of [service, replica])
            for (const { token } of [agent, agent, agent, agent])
              answers.push(await at.call({ method: "GET", path: "/v1/log/head", token }));
          return answers.filter(({ status }) => status === 429).length;
        },
        { timeout: 60_000, interval: 500 },
      )
      .toBe(8);
    const refused = await owner.get(`/api/orgs/${org.id}/backups`);
    expect([refused.status, refused.json["error"]]).toEqual([429, "rate_limited"]);
    expect(refused.json["details"]).toMatchObject({ quota: "requests" });
    expect(refused.headers["retry-after"]).toMatch(/^\d+$/);
    expect((await agent.post("/v1/heartbeat", heartbeat())).status).toBe(200);
    const event = {
      kind: "backup_failed",
      source_id: sourceId,
      occurred_at: new Date().toISOString(),
      detail: {},
    };
    expect((await agent.post("/v1/events", event)).status).toBe(201);
    expect((await other.get("/v1/log/head")).status).toBe(200);
    // The operator, who has to help, is not of the organisation.
    expect((await set({ requests: "default" })).status).toBe(200);
  });
});

describe("who sets them", () => {
  test("an operator, for one organisation: others keep the service's own, and the log and the API log have it", async () => {
    const answer = await set({ bytes: null, objects: 7, agents: "default" });
    expect(answer.json).toEqual({
      org_id: org.id,
      bytes: { used: 0, limit: null, default: 10_000 },
      objects: { used: 0, limit: 7, default: 5 },
      agents: { used: 1, limit: 2, default: 2 },
      requests: { limit: 100_000, default: 100_000, window_s: 60 },
    });
    expect((await ask(500_000)).status).toBe(201);
    const other = await service.addOrg();
    const others = (await operator.get(`/api/orgs/${other.id}/quotas`)).json;
    expect(others).toMatchObject({ bytes: { limit: 10_000 }, objects: { limit: 5 } });
    expect((await set({ bytes: "default" })).json).toMatchObject({
      bytes: { limit: 10_000 },
      objects: { limit: 7 },
    });
    const events = await owner.get(`/api/orgs/${org.id}/events?kind=quotas_changed`);
    expect(events.json["items"]).toMatchObject([
      { actor: { id: operator.id }, detail: { bytes: "default" } },
      { detail: { bytes: null, objects: 7, agents: "default" } },
    ]);
    const logged = await owner.get(`/api/orgs/${org.id}/api-logs?limit=200`);
    expect(JSON.stringify(logged.json["items"])).toContain(`"PATCH"`);
  });

  test.each(["owner", "admin", "auditor"] as const)("an %s sees them and changes none", async (role) => {
    const user = await service.signIn(org, role);
    expect((await user.get(`/api/orgs/${org.id}/quotas`)).status).toBe(200);
    expect((await user.patch(`/api/orgs/${org.id}/quotas`, { bytes: null })).status).toBe(403);
    const stranger = await service.signIn(await service.addOrg(), role);
    expect((await stranger.get(`/api/orgs/${org.id}/quotas`)).status).toBe(404);
  });

  test.each([{}, { bytes: -1 }, { bytes: 1.5 }, { bytes: "none" }, { disk: 1 }])(
    "%j is refused",
    async (change) => {
      expect((await set(change)).status).toBe(400);
    },
  );

  test("by default nothing is limited unless strangers may sign up; a configured limit counts", () => {
    const unset = { quotaBytes: undefined, quotaObjects: undefined, quotaAgents: undefined };
    const quotaRequests = { limit: 6000, window_s: 60 };
    const none = { bytes: null, objects: null, agents: null, requests: 6000, window_s: 60 };
    for (const signup of ["closed", "until-operator"] as const)
      expect(quotaDefaults({ signup, ...unset, quotaRequests })).toEqual(none);
    expect(quotaDefaults({ signup: "open", ...unset, quotaRequests })).toEqual({
      ...none,
      bytes: 50 * 1024 ** 3,
      objects: 10_000,
      agents: 50,
    });
    expect(
      quotaDefaults({ signup: "open", ...unset, quotaBytes: null, quotaAgents: 3, quotaRequests }),
    ).toEqual({
      ...none,
      objects: 10_000,
      agents: 3,
    });
  });
});

describe("the organisation is told", () => {
  const notify = (): Promise<void> =>
    notifyQuotas(
      { db: service.database, quotas: QUOTAS },
      { now: new Date(), signal: new AbortController().signal },
    );
  const told = async (): Promise<unknown[]> =>
    (
      await service.pool.query<{ data: { quota: unknown } }>(
        "select data from notifications where org_id = $1 and type = 'quota.reached' order by created_at, id",
        [org.id],
      )
    ).rows.map(({ data }) => data.quota);

  test("at 80 and at 100 %, once each, and again after there was room", async () => {
    const channel = { kind: "email", email: owner.email };
    expect((await owner.post(`/api/orgs/${org.id}/notifications/channels`, channel)).status).toBe(201);
    await notify();
    await ask(7999);
    await notify();
    expect(await told()).toEqual([]);
    await ask(1);
    await notify();
    await notify();
    const first = { name: "bytes", used: 8000, limit: 10_000, percent: 80 };
    expect(await told()).toEqual([first]);
    await ask(2000);
    await notify();
    await notify();
    const second = { name: "bytes", used: 10_000, limit: 10_000, percent: 100 };
    expect(await told()).toEqual([first, second]);
    await service.pool.query("update org_usage set bytes = 1 where org_id = $1", [org.id]);
    await notify();
    await service.pool.query("update org_usage set bytes = 9000 where org_id = $1", [org.id]);
    await notify();
    expect(await told()).toEqual([first, second, { name: "bytes", used: 9000, limit: 10_000, percent: 90 }]);
  });
});
