import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Answer } from "../../../test/client.ts";
import { startTestService, type TestOrg, type TestService, type TestUser } from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
let operator: TestUser;
let user: TestUser;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());
beforeEach(async () => {
  org = await service.addOrg();
  operator = await service.signIn(null);
  user = await service.signIn(org, "admin");
});

const REASON = "ticket 4711: restore test looks wrong";

const impersonate = (more: object = {}): Promise<Answer> =>
  operator.post("/api/auth/impersonate", { user_id: user.id, reason: REASON }, more);

async function impersonating(): Promise<string> {
  const answer = await impersonate();
  expect(answer.status, answer.body.toString()).toBe(200);
  return answer.json["session_token"] as string;
}

const get = (path: string, token: string): Promise<Answer> => service.call({ method: "GET", path, token });
const post = (path: string, token: string, json?: unknown): Promise<Answer> =>
  service.call({ method: "POST", path, token, ...(json === undefined ? {} : { json }) });

interface Logged {
  actor_id: string;
  detail: {
    user_id: string;
    reason: string;
    method: string;
    path: string;
    status: number;
    request_id: string;
  };
}

async function logged(): Promise<Logged[]> {
  const { rows } = await service.pool.query<{ actor_id: string; body: Buffer }>(
    "select actor_id, body from events where org_id = $1 and kind = 'impersonation_call' order by log_index",
    [org.id],
  );
  return rows.map(({ actor_id, body }) => ({
    actor_id,
    ...(JSON.parse(body.toString()) as Pick<Logged, "detail">),
  }));
}

async function changeSession(token: string, change: string): Promise<void> {
  await service.pool.query(`update sessions set ${change} where token_sha256 = sha256($1)`, [
    Buffer.from(token),
  ]);
}

test("an operator acts as a user: as them, marked, for an hour, and the log tells of every call before its answer", async () => {
  const begun = await impersonate();
  expect(begun.status).toBe(200);
  const token = begun.json["session_token"] as string;
  const left_s = (new Date(begun.json["expires_at"] as string).getTime() - Date.now()) / 1000;
  expect(left_s).toBeGreaterThan(3590);
  expect(left_s).toBeLessThanOrEqual(3600);
  expect(String(begun.headers["set-cookie"])).toContain(token);
  expect(await logged()).toHaveLength(1);
  const me = await get("/api/auth/me", token);
  expect(me.json).toMatchObject({
    user: { id: user.id, role: "admin" },
    org: { id: org.id },
    impersonated_by: { id: operator.id, email: operator.email, role: "operator" },
  });
  const renamed = await service.call({
    method: "PATCH",
    path: `/api/orgs/${org.id}`,
    token,
    json: { name: "Renamed" },
  });
  const refused = await service.call({
    method: "GET",
    path: `/api/orgs/${(await service.addOrg()).id}`,
    token,
  });
  expect([renamed.status, refused.status]).toEqual([403, 404]);
  expect((await user.get(`/api/orgs/${org.id}`)).json["name"]).not.toBe("Renamed");
  const calls = await logged();
  expect(calls.map(({ detail }) => [detail.method, detail.path, detail.status, detail.request_id])).toEqual([
    ["POST", "/api/auth/impersonate", 200, begun.headers["x-request-id"]],
    ["GET", "/api/auth/me", 200, me.headers["x-request-id"]],
    ["PATCH", `/api/orgs/${org.id}`, 403, renamed.headers["x-request-id"]],
    ["GET", expect.stringContaining("/api/orgs/org_"), 404, refused.headers["x-request-id"]],
  ]);
  for (const call of calls) {
    expect(call.actor_id).toBe(operator.id);
    expect(call.detail).toMatchObject({ user_id: user.id, reason: REASON });
  }
});

test("ending an impersonation restores the operator's session with its own expiry", async () => {
  const token = await impersonating();
  const ended = await post("/api/auth/end-impersonate", token);
  expect(ended.status, ended.body.toString()).toBe(200);
  expect(ended.json).toMatchObject({ user: { id: operator.id, role: "operator" }, org: null });
  const own = ended.json["session_token"] as string;
  expect(String(ended.headers["set-cookie"])).toContain(own);
  const { rows } = await service.pool.query("select expires_at from sessions where user_id = $1", [
    operator.id,
  ]);
  expect(rows).toHaveLength(2);
  expect(rows[0]).toEqual(rows[1]);
  expect((await get("/api/auth/me", own)).json).toMatchObject({
    user: { id: operator.id },
    impersonated_by: null,
  });
  const over = await get("/api/auth/me", token);
  expect([over.status, over.json["error"]]).toEqual([401, "session_expired"]);
  // What only an operator may: another impersonation, from the session that was given back.
  expect((await post("/api/auth/impersonate", own, { user_id: user.id, reason: "again" })).status).toBe(200);
  expect((await operator.get("/api/auth/me")).status).toBe(200);
});

test("an impersonation ends with the operator's own session, and after an hour", async () => {
  const first = await impersonating();
  await changeSession(first, "expires_at = now()");
  expect((await get("/api/auth/me", first)).json["error"]).toBe("session_expired");
  const second = await impersonating();
  expect((await operator.post("/api/auth/logout")).status).toBe(200);
  expect((await get("/api/auth/me", second)).json["error"]).toBe("session_expired");
});

test("an impersonation does not outlast the operator's own session", async () => {
  await changeSession(operator.token, "expires_at = now() + interval '10 minutes'");
  const { json } = await impersonate();
  expect(new Date(json["expires_at"] as string).getTime() - Date.now()).toBeLessThanOrEqual(600_000);
});

test("signing out of it, or of the session that was given back, signs the operator out altogether", async () => {
  const token = await impersonating();
  expect((await post("/api/auth/logout", token)).status).toBe(200);
  expect((await operator.get("/api/auth/me")).json["error"]).toBe("session_expired");
  operator = await service.signIn(null);
  const own = (await post("/api/auth/end-impersonate", await impersonating())).json[
    "session_token"
  ] as string;
  expect((await post("/api/auth/logout", own)).status).toBe(200);
  for (const gone of [own, operator.token])
    expect((await get("/api/auth/me", gone)).json["error"]).toBe("session_expired");
});

test("an impersonation ends when its user is removed", async () => {
  const token = await impersonating();
  const owner = await service.signIn(org);
  expect((await owner.delete(`/api/orgs/${org.id}/users/${user.id}`)).status).toBe(200);
  expect((await get("/api/auth/me", token)).json["error"]).toBe("session_expired");
});

test("an impersonation's calls are in the API log with the operator's name", async () => {
  const token = await impersonating();
  await get(`/api/orgs/${org.id}`, token);
  const rows = async () =>
    (
      await service.pool.query(
        "select actor_kind, actor_id, impersonator_id, status from api_logs where org_id = $1 and method = 'GET'",
        [org.id],
      )
    ).rows;
  // Readings are written down in batches.
  await expect
    .poll(rows, { timeout: 20_000 })
    .toEqual([{ actor_kind: "user", actor_id: user.id, impersonator_id: operator.id, status: 200 }]);
});

describe("it is refused", () => {
  test.each(["owner", "admin", "auditor"] as const)("to an %s", async (role) => {
    const other = await service.signIn(org, role);
    const answer = await other.post("/api/auth/impersonate", { user_id: user.id, reason: "x" });
    expect([answer.status, answer.json["error"]]).toEqual([403, "forbidden"]);
    expect(await logged()).toEqual([]);
  });

  test("to an operator who already impersonates", async () => {
    const token = await impersonating();
    expect((await post("/api/auth/impersonate", token, { user_id: user.id, reason: "x" })).status).toBe(403);
  });

  test("for operators, removed users and unknown ones", async () => {
    const removed = await service.signIn(org);
    await service.pool.query("update users set removed_at = now() where id = $1", [removed.id]);
    const another = await service.signIn(null);
    for (const user_id of [removed.id, another.id, user.id.replace(/.{6}$/, "000000")]) {
      const answer = await operator.post("/api/auth/impersonate", { user_id, reason: "x" });
      expect([answer.status, answer.json["error"]]).toEqual([404, "not_found"]);
    }
  });

  test.each([{}, { reason: "x" }, { user_id: "me", reason: "x" }, { reason: "" }])(
    "with %j",
    async (body) => {
      const answer = await operator.post("/api/auth/impersonate", body);
      expect(answer.status).toBe(400);
    },
  );
});

test("ending an impersonation that never began is a conflict", async () => {
  for (const who of [user, operator]) {
    const answer = await who.post("/api/auth/end-impersonate");
    expect([answer.status, answer.json["error"]]).toEqual([409, "conflict"]);
  }
});

test("a repeated key is one impersonation and one entry of the log, also when 10 come at once", async () => {
  const idempotencyKey = randomUUID();
  const answers = await Promise.all(Array.from({ length: 10 }, () => impersonate({ idempotencyKey })));
  const done = answers.filter(({ status }) => status === 200);
  expect(new Set(done.map(({ body }) => body.toString())).size).toBe(1);
  for (const { status, json } of answers)
    if (status !== 200) expect([status, json["error"]]).toEqual([409, "idempotency_in_progress"]);
  expect(await logged()).toHaveLength(1);
});
