/**
 * Requests to an agent's configuration: who may ask, what may be asked, which agent gets it and
 * when, and what it may answer.
 */
import { randomUUID } from "node:crypto";
import { newId } from "@attestore/contract";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  heartbeat,
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
let owner: TestUser;
let agent: TestAgent;
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
  owner = await service.signIn(org, "owner");
});
afterAll(() => service.close());
beforeEach(async () => {
  agent = await service.attach(org);
});

const path = (of = org): string => `/api/orgs/${of.id}/agents/${agent.id}/config-requests`;
const about = (id: string): string => `/api/config-requests/${id}`;

interface Delivered {
  id: string;
  asked_by: string;
  request: Record<string, unknown>;
}

/** What a heartbeat of the agent brings, of a host that allows it unless `more` says otherwise. */
async function beat(more: Record<string, unknown> = { remote_config: true }): Promise<Delivered[]> {
  const answer = await agent.post("/v1/heartbeat", heartbeat(more));
  expect(answer.status, answer.body.toString()).toBe(200);
  return (answer.json["config_requests"] ?? []) as Delivered[];
}

async function ask(request: object = { kind: "discover" }, by: TestUser = owner): Promise<string> {
  const asked = await by.post(path(), request);
  expect(asked.status, asked.body.toString()).toBe(202);
  return asked.json["id"] as string;
}

const show = async (id: string): Promise<Record<string, unknown>> => (await owner.get(about(id))).json;

/** As if so much time had passed since it was asked, or delivered. */
const age = (id: string, seconds: number) =>
  service.pool.query(
    `update config_requests set expires_at = expires_at - make_interval(secs => $2),
       delivered_at = delivered_at - make_interval(secs => $2) where id = $1`,
    [id, seconds],
  );

const FOUND = { kind: "discover", servers: [] };

test("an agent whose host does not allow it is asked nothing, and the service cannot turn it on", async () => {
  await beat({});
  const asked = await owner.post(path(), { kind: "discover" });
  expect([asked.status, asked.json["details"]]).toEqual([409, { reason: "remote_config_off" }]);
  expect(asked.json["message"]).toContain("allow_remote_config: true");
  expect((await owner.patch(path().replace("/config-requests", ""), { remote_config: true })).status).toBe(
    400,
  );
  expect((await owner.get(path().replace("/config-requests", ""))).json["remote_config"]).toBe(false);
});

test("an agent that says it allows it gets each request once, with who asked, and again if it stays silent", async () => {
  await beat();
  expect((await owner.get(path().replace("/config-requests", ""))).json["remote_config"]).toBe(true);
  const admin = await service.signIn(org, "admin");
  const id = await ask({ kind: "discover" }, admin);
  expect(await beat()).toEqual([{ id, asked_by: admin.id, request: { kind: "discover" } }]);
  expect(await show(id)).toMatchObject({ status: "delivered", result: null, refusal: null });
  expect(await beat()).toEqual([]);
  await age(id, 31);
  expect(await beat()).toHaveLength(1);
  await age(id, 15 * 60);
  expect(await beat()).toEqual([]);
});

test("nothing is delivered after 15 minutes, nor to an agent that no longer allows it", async () => {
  await beat();
  const old = await ask();
  await age(old, 15 * 60);
  expect(await beat()).toEqual([]);
  expect(await show(old)).toMatchObject({ status: "expired" });
  const id = await ask();
  expect(await beat({})).toEqual([]);
  expect(await show(id)).toMatchObject({ status: "queued" });
  expect((await owner.post(path(), { kind: "discover" })).status).toBe(409);
});

test("a request of somebody who was removed since, or is no longer an admin, is delivered to nobody", async () => {
  await beat();
  const [removed, demoted, left] = [
    await service.signIn(org, "admin"),
    await service.signIn(org, "admin"),
    await service.signIn(org, "owner"),
  ];
  const waiting = [
    await ask({ kind: "discover" }, removed),
    await ask({ kind: "discover" }, demoted),
    await ask({ kind: "discover" }, left),
  ];
  const kept = await ask();
  const users = `/api/orgs/${org.id}/users`;
  expect((await owner.delete(`${users}/${removed.id}`)).status).toBe(200);
  expect((await owner.patch(`${users}/${demoted.id}`, { role: "auditor" })).status).toBe(200);
  expect((await left.post(`/api/orgs/${org.id}/leave`, {})).status).toBe(200);
  expect((await beat()).map(({ id }) => id)).toEqual([kept]);
  for (const id of waiting) expect(await show(id)).toMatchObject({ status: "expired" });
  // They count for nothing, and the agent is not woken for them.
  expect((await agent.get("/v1/commands?wait_s=0")).json).toEqual({ queued: false });
  expect(await beat()).toEqual([]);
});

test("an agent that waits for commands hears of a request at once", async () => {
  await beat();
  const waiting = agent.get("/v1/commands?wait_s=20");
  await expect.poll(() => service.holding()).toBe(1);
  await ask();
  expect((await waiting).json).toEqual({ queued: true });
  await beat();
  expect((await agent.get("/v1/commands?wait_s=0")).json).toEqual({ queued: false });
});

test("only owners and admins of the agent's own organisation may ask, and read the answers", async () => {
  await beat();
  const id = await ask();
  const auditor = await service.signIn(org, "auditor");
  const operator = await service.signIn(null);
  const other = await service.addOrg();
  const stranger = await service.signIn(other, "owner");
  for (const [who, status] of [
    [auditor, 403],
    [operator, 403],
    [stranger, 404],
  ] as const) {
    expect((await who.post(path(), { kind: "discover" })).status).toBe(status);
    expect((await who.get(about(id))).status).toBe(status);
  }
  // By way of their own organisation they reach no agent of another.
  expect((await stranger.post(path(other), { kind: "discover" })).status).toBe(404);
  expect((await agent.post(path(), { kind: "discover" })).status).toBe(401);
  expect(await beat()).toHaveLength(1);
});

test("a request that is not exactly one of the six kinds is refused and reaches no agent", async () => {
  await beat();
  const tried = newId("configRequest");
  const check = {
    kind: "try_check",
    source: "orders",
    measure: "rows",
    table: "public.orders",
    threshold: 1,
  };
  const refused: object[] = [
    {},
    { kind: "run" },
    { kind: "remove_source", name: "orders" },
    { kind: "discover", host: "db.example.org" },
    { kind: "discover", path: "/etc" },
    { kind: "try_source", place: "host:db.example.org", database: "x" },
    { kind: "try_source", place: "socket:postgresql:5432/../x", database: "x" },
    { kind: "try_source", place: "socket:postgresql:5432", database: "" },
    { kind: "try_source", place: "socket:postgresql:5432", database: "x".repeat(301) },
    { kind: "try_source", place: "socket:postgresql:5432", database: "x", connection: "env:HOME" },
    ...["sandbox", "limits", "path", "connection", "engine", "databases", "command"].map((field) => ({
      kind: "add_source",
      tried,
      name: "x",
      checks: [],
      [field]: "x",
    })),
    { kind: "add_source", tried, name: "../x", checks: [] },
    { kind: "add_source", tried, name: "x", checks: [{ id: "x", command: ["sh"] }] },
    { kind: "add_source", tried, name: "x", checks: Array.from({ length: 21 }, (_, n) => `c${n}`) },
    { kind: "list_columns", source: "/etc/passwd" },
    { ...check, query: "select 1" },
    { ...check, expect: "n > 0" },
    { ...check, measure: "max" },
    { ...check, column: "id" },
    { ...check, measure: "newest" },
    { ...check, threshold: 0 },
    { ...check, threshold: 1.5 },
    { ...check, threshold: "1" },
    { ...check, table: "x".repeat(301) },
    { kind: "add_check", tried, name: "x", query: "select 1" },
    { kind: "add_check", tried: "cfg_1", name: "x" },
  ];
  for (const body of refused) {
    const answer = await owner.post(path(), body);
    expect([body, answer.status]).toEqual([body, 400]);
  }
  expect(await beat()).toEqual([]);
});

test("an agent has ten open requests at most", async () => {
  await beat();
  for (let n = 0; n < 10; n++) await ask();
  const more = await owner.post(path(), { kind: "discover" });
  expect([more.status, more.json["details"]]).toEqual([409, { reason: "too_many_open" }]);
  const [first] = await beat();
  await agent.post(`/v1/config-requests/${first?.id ?? ""}/answer`, { result: FOUND });
  await ask();
});

test("a call that is repeated with its idempotency key asks once", async () => {
  await beat();
  const idempotencyKey = randomUUID();
  const again = () => owner.post(path(), { kind: "discover" }, { idempotencyKey });
  const first = await again();
  expect([first.status, (await again()).json]).toEqual([202, first.json]);
  expect(await beat()).toHaveLength(1);
});

test("an agent answers its own request, of its own kind, once", async () => {
  await beat();
  const id = await ask();
  const answer = `/v1/config-requests/${id}/answer`;
  expect((await agent.post(answer, { result: FOUND })).status).toBe(404);
  await beat();
  expect((await (await service.attach(org)).post(answer, { result: FOUND })).status).toBe(404);
  expect((await (await service.attach(await service.addOrg())).post(answer, { result: FOUND })).status).toBe(
    404,
  );
  for (const body of [
    {},
    { result: { kind: "add_source", added: "orders" } },
    { result: FOUND, refusal: { reason: "x", message: "x" } },
    { result: { ...FOUND, html: "<script>" } },
    { refusal: { reason: "Not a code", message: "x" } },
    { refusal: { reason: "x", message: "x".repeat(2001) } },
  ])
    expect([body, (await agent.post(answer, body)).status]).toEqual([body, 400]);
  expect((await agent.post(answer, { result: FOUND })).status).toBe(200);
  expect((await agent.post(answer, { refusal: { reason: "x", message: "y" } })).status).toBe(200);
  expect(await show(id)).toMatchObject({ status: "answered", result: FOUND, refusal: null });
  expect(await beat()).toEqual([]);
});

test("each request is in the API log, with who asked", async () => {
  await beat();
  await ask();
  await expect
    .poll(async () => {
      const { rows } = await service.pool.query(
        "select actor_id, status from api_logs where route = '/api/orgs/:orgID/agents/:agentID/config-requests' and path like $1",
        [`%${agent.id}%`],
      );
      return rows;
    })
    .toEqual([{ actor_id: owner.id, status: 202 }]);
});
