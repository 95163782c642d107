import { ApiLogRecord, EventRecord, LogHead, LogProof } from "@attestore/contract";
import { canonicalJson, openCheckpoint, parseVerifierKey, toHex, verifyConsistency } from "@attestore/proof";
import { createHash } from "node:crypto";
import { Value } from "typebox/value";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
let agent: TestAgent;
let owner: TestUser;
let stranger: TestUser;
const reported: string[] = [];
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
  agent = await service.attach(org);
  owner = await service.signIn(org);
  stranger = await service.signIn(await service.addOrg());
  for (const n of [1, 2, 3]) {
    const answer = await agent.post("/v1/events", {
      kind: "backup_failed",
      occurred_at: `2026-11-2${n}T08:00:00.000Z`,
      detail: { reason: `no. ${n}` },
    });
    reported.unshift(answer.json["event_id"] as string);
  }
});
afterAll(() => service.close());

describe("events", () => {
  const list = async (query = "") =>
    (await owner.get(`/api/orgs/${org.id}/events${query}`)).json["items"] as EventRecord[];

  test("the agents' and the service's own, newest first, by filter", async () => {
    const all = await list();
    for (const item of all) expect([...Value.Errors(EventRecord, item)]).toEqual([]);
    expect(all.map(({ kind }) => kind)).toEqual([
      "backup_failed",
      "backup_failed",
      "backup_failed",
      "agent_attached",
    ]);
    expect((await list("?kind=backup_failed")).map(({ id }) => id)).toEqual(reported);
    expect(await list(`?agent_id=${agent.id}`)).toHaveLength(3);
    expect((await list("?kind=backup_failed&limit=1"))[0]).toMatchObject({
      actor: { kind: "agent", id: agent.id },
      detail: { reason: "no. 3" },
      occurred_at: "2026-11-23T08:00:00.000Z",
    });
    expect((await list("?kind=agent_attached"))[0]?.actor).toMatchObject({ kind: "auth_key" });
  });

  test("the log's leaf covers everything that an event says", async () => {
    const { json } = await owner.get(`/api/events/${reported[0] ?? ""}`);
    const { kind, occurred_at, detail, log_index } = json as unknown as EventRecord;
    const { rows } = await service.pool.query<{ leaf: Buffer }>(
      "select leaf from log_leaves where org_id = $1 and log_index = $2",
      [org.id, log_index],
    );
    const { body_sha256 } = JSON.parse(rows[0]?.leaf.toString() ?? "") as { body_sha256: string };
    const body = canonicalJson({ kind, occurred_at, detail });
    expect(createHash("sha256").update(body).digest("hex")).toBe(body_sha256);
  });

  test("another organisation's are not found", async () => {
    expect((await stranger.get(`/api/events/${reported[0] ?? ""}`)).status).toBe(404);
    expect((await stranger.get(`/api/orgs/${org.id}/events`)).status).toBe(404);
  });
});

describe("the log", () => {
  test("its head is the one that agents get, and a later one is proven to extend it", async () => {
    const { json: before } = await owner.get(`/api/orgs/${org.id}/log/head`);
    expect([...Value.Errors(LogHead, before)]).toEqual([]);
    expect(before["checkpoint"]).toBe((await agent.get("/v1/log/head")).json["checkpoint"]);
    await agent.post("/v1/events", {
      kind: "restore_failed",
      occurred_at: "2026-11-24T08:00:00.000Z",
      detail: {},
    });
    const { json: after } = await owner.get(`/api/orgs/${org.id}/log/head`);
    const size = (head: Record<string, unknown>) => Number(head["tree_size"]);
    const answer = await owner.get(
      `/api/orgs/${org.id}/log/proof?leaf=0&tree_size=${size(after)}&from=${size(before)}`,
    );
    const proof = answer.json as unknown as LogProof;
    expect([...Value.Errors(LogProof, proof)]).toEqual([]);
    const key = parseVerifierKey(agent.log.verifier_key);
    const [first, second] = await Promise.all([
      openCheckpoint(String(before["checkpoint"]), key),
      openCheckpoint(proof.checkpoint, key),
    ]);
    expect(toHex(second.rootHash)).toBe(after["root_hash"]);
    verifyConsistency({
      from: first.size,
      to: second.size,
      fromRoot: first.rootHash,
      toRoot: second.rootHash,
      hashes: proof.consistency?.hashes.map((hash) => Buffer.from(hash, "hex")) ?? [],
    });
  });

  test("another organisation's is not found", async () => {
    expect((await stranger.get(`/api/orgs/${org.id}/log/head`)).status).toBe(404);
    expect((await stranger.get(`/api/orgs/${org.id}/log/proof?leaf=0&tree_size=1`)).status).toBe(404);
  });
});

describe("API logs", () => {
  const list = async (query = "") =>
    (await owner.get(`/api/orgs/${org.id}/api-logs${query}`)).json["items"] as ApiLogRecord[];

  test("a call that changed something is there as soon as it is answered", async () => {
    const key = "01890a5d-ac96-774b-bcce-b302099a8057";
    const answer = await agent.post(
      "/v1/events",
      { kind: "backup_failed", occurred_at: "2026-11-25T08:00:00.000Z", detail: {} },
      { idempotencyKey: key, headers: { "user-agent": "attestore/0.1.0" } },
    );
    const [row] = await list("?limit=1&status=201");
    expect([...Value.Errors(ApiLogRecord, row)]).toEqual([]);
    expect(row).toMatchObject({
      actor: { kind: "agent", id: agent.id },
      method: "POST",
      route: "/v1/events",
      path: "/v1/events",
      status: 201,
      address: "127.0.0.1",
      user_agent: "attestore/0.1.0",
      request_id: answer.headers["x-request-id"],
      idempotency_key: key,
    });
    expect(row).not.toHaveProperty("impersonator");
    expect((await owner.get(`/api/api-logs/${row?.id ?? ""}`)).json).toEqual(row);
    expect((await stranger.get(`/api/api-logs/${row?.id ?? ""}`)).status).toBe(404);
  });

  test("by caller, and by method; an operator's calls as somebody else too", async () => {
    const attempt = { slug: "by-actor", engine: "sqlite", agent_id: agent.id };
    await owner.post(`/api/orgs/${org.id}/sources`, attempt);
    const of = (actor: string) => list(`?actor_id=${actor}&method=POST`);
    const made = await of(owner.id);
    expect(made.map(({ route }) => route)).toContain("/api/orgs/:orgID/sources");
    expect(new Set(made.map(({ actor, method }) => `${method} ${actor.id}`))).toEqual(
      new Set([`POST ${owner.id}`]),
    );
    const operator = await service.signIn(null);
    const acting = await operator.post("/api/auth/impersonate", { user_id: owner.id, reason: "a test" });
    await service.call({
      method: "POST",
      path: `/api/orgs/${org.id}/sources`,
      token: acting.json["session_token"] as string,
      json: { ...attempt, slug: "by-operator" },
    });
    // Refused, since they only read; recorded all the same, with the next batch.
    await expect
      .poll(async () =>
        (await of(operator.id)).map(({ route, status, impersonator }) => [route, status, impersonator?.id]),
      )
      .toEqual([["/api/orgs/:orgID/sources", 403, operator.id]]);
    expect(await list("?method=PATCH")).toEqual([]);
  });

  test("by actor and status", async () => {
    const attached = await list("?kind=auth_key&status=201");
    expect(attached.map(({ route }) => route)).toEqual(["/api/bootstrap/attach"]);
    expect(await list(`?agent_id=${agent.id}&status=500`)).toEqual([]);
    for (const query of ["status=20", "method=get", "actor_id=console%00"])
      expect((await owner.get(`/api/orgs/${org.id}/api-logs?${query}`)).status).toBe(400);
  });
});
