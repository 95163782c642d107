import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ownAddress, type Answer } from "../../../test/client.ts";
import {
  attachBody,
  newKeyPair,
  startTestService,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
let owner: TestUser;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());
beforeEach(async () => {
  org = await service.addOrg();
  owner = await service.signIn(org);
});

interface Started {
  code: string;
  poll_token: string;
  address: string;
  publicKeyWire: string;
}

async function start(): Promise<Started> {
  const { publicKeyWire } = newKeyPair();
  const address = ownAddress();
  const json = attachBody(publicKeyWire);
  const { json: begun } = await service.call({
    method: "POST",
    path: "/api/bootstrap/start",
    json,
    from: address,
  });
  return { ...(begun as { code: string; poll_token: string }), address, publicKeyWire };
}

const bootstrap = (code: string, of = org): string => `/api/orgs/${of.id}/bootstraps/${code}`;
const poll = ({ poll_token }: Started): Promise<Answer> =>
  service.call({ method: "GET", path: `/api/bootstrap/${poll_token}` });
const errorOf = ({ status, json }: Answer): unknown[] => [status, json["error"]];

describe("a review", () => {
  test("shows what a person compares with the host's screen, however the code is typed", async () => {
    const { code, address, publicKeyWire } = await start();
    const answer = await owner.get(bootstrap(code));
    expect(answer.status, answer.body.toString()).toBe(200);
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^boot_/),
      created_at: expect.any(String),
      name: "host-1",
      hostname: "host-1.example.org",
      platform: "linux-x64",
      agent_version: "0.1.0",
      address,
      public_key: publicKeyWire,
      key_fingerprint: expect.stringMatching(/^SHA256:/),
      status: "pending",
      expires_at: expect.any(String),
      decided_at: null,
      decided_by: null,
      agent_id: null,
    });
    expect((await owner.get(bootstrap(code.toLowerCase().replace("-", "")))).json).toEqual(answer.json);
  });

  test("of an unknown code, of an expired one, and of another organisation's", async () => {
    const { code } = await start();
    expect(errorOf(await owner.get(bootstrap("ABCD-EFGH")))).toEqual([404, "not_found"]);
    const another = await service.addOrg();
    const theirs = await service.signIn(another);
    expect((await theirs.get(bootstrap(code, another))).status).toBe(200);
    await owner.post(`${bootstrap(code)}/deny`);
    expect((await owner.get(bootstrap(code))).json["status"]).toBe("denied");
    for (const call of [
      theirs.get(bootstrap(code, another)),
      theirs.post(`${bootstrap(code, another)}/approve`),
      theirs.post(`${bootstrap(code, another)}/deny`),
    ])
      expect(errorOf(await call)).toEqual([404, "not_found"]);
    const late = await start();
    await service.pool.query("update bootstraps set expires_at = now() where status = 'pending'");
    for (const call of [
      owner.get(bootstrap(late.code)),
      owner.post(`${bootstrap(late.code)}/approve`),
      owner.post(`${bootstrap(late.code)}/deny`),
    ])
      expect(errorOf(await call)).toEqual([410, "attach_expired"]);
  });

  test("keeps the code out of the API log", async () => {
    const { code } = await start();
    await owner.post(`${bootstrap(code)}/approve`);
    const { rows } = await service.pool.query<{ path: string }>(
      "select path from api_logs where org_id = $1 and route like '%/approve'",
      [org.id],
    );
    expect(rows).toEqual([{ path: "/api/orgs/:orgID/bootstraps/:code/approve" }]);
  });
});

describe("approving", () => {
  test("mints the agent, which the log tells of; the poll that waits gets its token", async () => {
    const started = await start();
    const waiting = poll(started);
    const approved = await owner.post(`${bootstrap(started.code)}/approve`);
    expect(approved.status, approved.body.toString()).toBe(200);
    const agentId = String(approved.json["agent_id"]);
    expect(approved.json).toMatchObject({
      status: "approved",
      decided_by: owner.id,
      decided_at: expect.stringMatching(/Z$/),
      agent_id: expect.stringMatching(/^agent_/),
    });
    expect(approved.body.toString()).not.toContain("ats_");
    const polled = await waiting;
    expect(polled.json).toMatchObject({ agent_id: agentId, org_id: org.id });
    const token = String(polled.json["api_token"]);
    expect((await service.call({ method: "GET", path: "/v1/log/head", token })).status).toBe(200);
    expect((await owner.get(`/api/orgs/${org.id}/agents/${agentId}`)).json["status"]).toBe("active");
    const { rows } = await service.pool.query<{ actor_id: string; body: Buffer }>(
      "select actor_id, body from events where org_id = $1 and kind = 'agent_attached'",
      [org.id],
    );
    expect(rows.map(({ actor_id }) => actor_id)).toEqual([owner.id]);
    expect(JSON.parse(String(rows[0]?.body))).toMatchObject({ detail: { agent_id: agentId } });
  });

  test("may an operator too, for any organisation", async () => {
    const operator = await service.signIn(null);
    const { code } = await start();
    expect((await operator.get(bootstrap(code))).status).toBe(200);
    expect((await operator.post(`${bootstrap(code)}/approve`)).json["decided_by"]).toBe(operator.id);
  });

  test("and denying by several people at once is decided once", async () => {
    for (let round = 0; round < 5; round++) {
      const started = await start();
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          owner.post(`${bootstrap(started.code)}/${n % 2 === 0 ? "approve" : "deny"}`),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const answer of answers.filter(({ status }) => status !== 200))
        expect(errorOf(answer)).toEqual([409, "conflict"]);
    }
  });

  test("by two organisations at once goes to one of them", async () => {
    const another = await service.addOrg();
    const theirs = await service.signIn(another);
    const { code } = await start();
    const answers = await Promise.all([
      owner.post(`${bootstrap(code)}/approve`),
      theirs.post(`${bootstrap(code, another)}/approve`),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 404]));
    const { rows } = await service.pool.query<{ n: number }>(
      "select count(*) as n from agents where org_id = any($1)",
      [[org.id, another.id]],
    );
    expect(rows).toEqual([{ n: 1 }]);
  });

  test("repeated under its key after the decision is answered as the first time", async () => {
    const { code } = await start();
    const idempotencyKey = randomUUID();
    const first = await owner.post(`${bootstrap(code)}/approve`, undefined, { idempotencyKey });
    const again = await owner.post(`${bootstrap(code)}/approve`, undefined, { idempotencyKey });
    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect(again.body.equals(first.body)).toBe(true);
    expect(errorOf(await owner.post(`${bootstrap(code)}/approve`))).toEqual([409, "conflict"]);
  });
});

test("denying ends the poll that waits, and no agent is made", async () => {
  const started = await start();
  const waiting = poll(started);
  const denied = await owner.post(`${bootstrap(started.code)}/deny`);
  expect(denied.json).toMatchObject({ status: "denied", agent_id: null, decided_by: owner.id });
  expect(errorOf(await waiting)).toEqual([403, "attach_denied"]);
  const { rows } = await service.pool.query("select id from agents where org_id = $1", [org.id]);
  expect(rows).toEqual([]);
});
