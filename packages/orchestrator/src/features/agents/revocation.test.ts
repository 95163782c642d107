import { afterAll, beforeAll, expect, test } from "vitest";
import {
  heartbeat,
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
} from "../../../test/service.ts";
import { revokeAgent } from "./revoke-agent.ts";

let service: TestService;
let org: TestOrg;
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
});
afterAll(() => service.close());

const event = { kind: "backup_failed", occurred_at: "2026-11-21T08:00:00.000Z", detail: {} };

const revoke = (agentId: string) =>
  service.database.transaction().execute((tx) => revokeAgent(tx, { agentId, actorId: "console" }));

const calls = (agent: TestAgent) => [
  agent.post("/v1/heartbeat", heartbeat()),
  agent.post("/v1/events", event),
  agent.post("/v1/receipts", { payloadType: "x", payload: "", signatures: [{ sig: "" }] }),
  agent.get("/v1/log/head"),
  agent.post("/v1/backups/upload-url", { source_id: "x" }),
];

test("a revocation is immediate on every replica, although a replica has just seen the agent", async () => {
  const replica = await service.listen();
  const agent = await service.attach(org);
  for (const each of [service, replica])
    expect(
      (await each.call({ method: "POST", path: "/v1/events", token: agent.token, json: event })).status,
    ).toBe(201);
  await revoke(agent.id);
  for (const each of [service, replica]) {
    const seen = {
      ...agent,
      post: (path: string, json?: unknown) => each.call({ method: "POST", path, token: agent.token, json }),
    };
    const answers = await Promise.all(
      calls({ ...seen, get: (path) => each.call({ method: "GET", path, token: agent.token }) }),
    );
    // A receipt that is no envelope may be refused for that first; it is refused in any case.
    for (const [n, { status, json }] of answers.entries())
      if (n !== 2) expect([status, json["error"]], String(n)).toEqual([401, "agent_revoked"]);
      else expect(status).toBeGreaterThanOrEqual(400);
  }
  await replica.close();
});

test("a revocation lets nothing into the log after its own entry, however calls race with it", async () => {
  const agent = await service.attach(org);
  await agent.post("/v1/heartbeat", heartbeat());
  const racing = Promise.all(Array.from({ length: 60 }, () => agent.post("/v1/events", event)));
  await revoke(agent.id);
  const answers = await racing;
  expect(new Set(answers.map(({ status }) => status)).difference(new Set([201, 401]))).toEqual(new Set());
  const { rows } = await service.pool.query<{ kind: string }>(
    "select kind from events where org_id = $1 and (actor_id = $2 or kind = 'agent_revoked') order by log_index",
    [org.id, agent.id],
  );
  const revoked = rows.findLastIndex(({ kind }) => kind === "agent_revoked");
  expect(revoked).toBe(rows.length - 1);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(
    rows.filter(({ kind }) => kind === "backup_failed").length,
  );
});

test("an agent is revoked once, and only if it exists", async () => {
  const agent = await service.attach(org);
  const twice = await Promise.allSettled([revoke(agent.id), revoke(agent.id)]);
  expect(twice.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  await expect(revoke(agent.id)).rejects.toMatchObject({ code: "conflict" });
  await expect(revoke("agent_01jd4qk8x5e5r8v3n6z7m4c2qp")).rejects.toMatchObject({ code: "not_found" });
});
