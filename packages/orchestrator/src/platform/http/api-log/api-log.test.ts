import { randomUUID } from "node:crypto";
import { newId } from "@attestore/contract";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  attachBody,
  heartbeat,
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
} from "../../../../test/service.ts";
import { ApiLogBuffer } from "./api-log-buffer.ts";

let service: TestService;
let org: TestOrg;
let agent: TestAgent;
beforeAll(async () => {
  service = await startTestService();
});
beforeEach(async () => {
  org = await service.addOrg();
  agent = await service.attach(org);
  await service.pool.query("delete from api_logs");
});
afterAll(() => service.close());

async function rows(): Promise<Record<string, unknown>[]> {
  return (await service.pool.query<Record<string, unknown>>("select * from api_logs order by id")).rows;
}

test("a call that changes something has its row when its answer arrives", async () => {
  const idempotencyKey = randomUUID();
  const answer = await agent.post("/v1/heartbeat", heartbeat(), {
    idempotencyKey,
    headers: { "user-agent": "attestore/0.1.0" },
  });
  expect(await rows()).toEqual([
    {
      id: expect.stringMatching(/^log_/),
      org_id: org.id,
      actor_kind: "agent",
      actor_id: agent.id,
      impersonator_id: null,
      method: "POST",
      route: "/v1/heartbeat",
      path: "/v1/heartbeat",
      status: 200,
      duration_ms: expect.any(Number),
      address: "127.0.0.1",
      user_agent: "attestore/0.1.0",
      request_id: answer.headers["x-request-id"],
      idempotency_key: idempotencyKey,
      created_at: expect.any(Date),
    },
  ]);
});

test("a submission has its row when its answer arrives", async () => {
  const event = { kind: "backup_failed", occurred_at: "2026-11-21T08:00:00.000Z", detail: {} };
  const answer = await agent.post("/v1/events", event);
  expect(answer.status).toBe(201);
  expect(await rows()).toMatchObject([
    { route: "/v1/events", status: 201, actor_id: agent.id, request_id: answer.headers["x-request-id"] },
  ]);
});

test("refusals by the handler, and before it, are recorded with their status", async () => {
  await agent.post("/v1/backups/bkp_01jd4qk8x5e5r8v3n6z7m4c2qp/download-url");
  expect(await rows()).toMatchObject([{ route: "/v1/backups/:id/download-url", status: 404 }]);
  await agent.post("/v1/events", {});
  await expect.poll(rows).toMatchObject([{ status: 404 }, { route: "/v1/events", status: 400 }]);
});

test("reads and replays follow within a second or so, each once", async () => {
  const idempotencyKey = randomUUID();
  await agent.post("/v1/heartbeat", heartbeat({ uptime_s: 1 }), { idempotencyKey });
  await agent.post("/v1/heartbeat", heartbeat({ uptime_s: 1 }), { idempotencyKey });
  await agent.get("/v1/log/head");
  await expect
    .poll(async () => (await rows()).map(({ route }) => route))
    .toEqual(["/v1/heartbeat", "/v1/heartbeat", "/v1/log/head"]);
});

test("rows whose commit was not confirmed do not block later rows", async () => {
  const row = (id: string) => ({
    id,
    org_id: org.id,
    actor_kind: "user" as const,
    actor_id: null,
    impersonator_id: null,
    method: "GET",
    route: "/",
    path: "/",
    status: 200,
    duration_ms: 1,
    address: "127.0.0.1",
    user_agent: null,
    request_id: "req_1",
    idempotency_key: null,
    created_at: new Date(),
  });
  const [written, waiting] = [newId("apiLog"), newId("apiLog")];
  await service.database.insertInto("api_logs").values(row(written)).execute();
  const buffer = new ApiLogBuffer(service.database, service.logger);
  buffer.record(row(written));
  buffer.record(row(waiting));
  await buffer.flush();
  const ids = (await rows()).map(({ id }) => id);
  expect([ids.length, new Set(ids)]).toEqual([2, new Set([written, waiting])]);
});

test("the service writes its waiting rows before it stops", async () => {
  const replica = await service.listen();
  await replica.call({ method: "GET", path: "/v1/log/head", token: agent.token });
  await replica.close();
  expect(await rows()).toMatchObject([{ route: "/v1/log/head", status: 200 }]);
});

test("the API log contains no secret, no body and no query", async () => {
  await service.call({
    method: "POST",
    path: "/api/bootstrap/attach",
    token: org.authKey,
    json: attachBody(),
  });
  await agent.get("/v1/log/proof?leaf=0&tree_size=1");
  await agent.post("/v1/events", {
    kind: "backup_failed",
    occurred_at: "2026-11-21T08:00:00.000Z",
    detail: { a: "in the body" },
  });
  await expect.poll(async () => (await rows()).length).toBe(3);
  const text = JSON.stringify(await rows());
  for (const secret of [org.authKey, agent.token, "in the body", "tree_size"])
    expect(text).not.toContain(secret);
});

test("a very long header is cut", async () => {
  await agent.get("/v1/log/head", { headers: { "user-agent": `attestore/${"x".repeat(10_000)}` } });
  await expect.poll(rows).toMatchObject([{ user_agent: `attestore/${"x".repeat(246)}` }]);
});
