import { randomUUID } from "node:crypto";
import { AUTH_KEY } from "@attestore/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ownAddress, type Answer } from "../../../test/client.ts";
import {
  attachBody,
  startTestService,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
let admin: TestUser;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());
beforeEach(async () => {
  org = await service.addOrg();
  admin = await service.signIn(org, "admin");
  await service.pool.query("delete from auth_keys where org_id = $1", [org.id]);
});

const keys = (): string => `/api/orgs/${org.id}/auth-keys`;

async function mint(body: object = {}): Promise<{ id: string; auth_key: string; answer: Answer }> {
  const answer = await admin.post(keys(), body);
  expect(answer.status, answer.body.toString()).toBe(201);
  return { id: answer.json["id"] as string, auth_key: answer.json["auth_key"] as string, answer };
}

const attach = (token: string): Promise<Answer> =>
  service.call({
    method: "POST",
    path: "/api/bootstrap/attach",
    token,
    json: attachBody(),
    from: ownAddress(),
  });

const listed = async (): Promise<string[]> =>
  ((await admin.get(keys())).json["items"] as { id: string }[]).map(({ id }) => id);

test("a call with only optional fields needs no body; one with a required field says which", async () => {
  const { status, json } = await admin.post(keys());
  expect([status, json["name"], json["max_uses"]]).toEqual([201, null, null]);
  const needs = { status: 400, json: { error: "invalid_json", message: "This call needs a JSON body." } };
  expect(await admin.post(`/api/orgs/${org.id}/users`)).toMatchObject(needs);
  const rename = await service.call({ method: "PATCH", path: `/api/orgs/${org.id}`, token: admin.token });
  expect(rename).toMatchObject(needs);
  const { json: api } = await service.call({ method: "GET", path: "/api/openapi.json" });
  const { paths } = api as { paths: Record<string, Record<string, { requestBody: { required: boolean } }>> };
  expect(paths["/api/orgs/{orgID}/auth-keys"]?.["post"]?.requestBody.required).toBe(false);
  expect(paths["/api/orgs/{orgID}/users"]?.["post"]?.requestBody.required).toBe(true);
});

describe("an auth key", () => {
  test("is shown once, with the command for the host, and attaches agents", async () => {
    const { id, auth_key, answer } = await mint({ name: "rack 7" });
    expect(answer.json).toEqual({
      id,
      created_at: expect.any(String),
      org_id: org.id,
      name: "rack 7",
      created_by: admin.id,
      expires_at: expect.any(String),
      last_used_at: null,
      max_uses: null,
      uses: 0,
      wrong_attempts: 0,
      revoked_at: null,
      auth_key: expect.stringMatching(AUTH_KEY),
      install_command: expect.stringContaining(`--service ${service.url}`),
    });
    expect(answer.json["install_command"]).not.toContain(auth_key);
    const days = (new Date(String(answer.json["expires_at"])).getTime() - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(6.99);
    expect(days).toBeLessThanOrEqual(7);
    expect((await attach(auth_key)).json["org_id"]).toBe(org.id);
    const list = await admin.get(keys());
    expect(list.json["items"]).toMatchObject([{ id, uses: 1, last_used_at: expect.stringMatching(/Z$/) }]);
    expect(list.body.toString()).not.toContain(auth_key.slice(15));
  });

  test("is nowhere in the database, not even in the remembered answer", async () => {
    const idempotencyKey = randomUUID();
    const answer = await admin.post(keys(), {}, { idempotencyKey });
    const secret = String(answer.json["auth_key"]).slice(15);
    for (const table of ["auth_keys", "idempotency_keys", "api_logs", "events"]) {
      const { rows } = await service.pool.query<{ row: string }>(`select t::text as row from ${table} as t`);
      for (const { row } of rows) {
        expect(row).not.toContain(secret);
        expect(row).not.toContain(Buffer.from(secret).toString("hex"));
      }
    }
    const again = await admin.post(keys(), {}, { idempotencyKey });
    expect(again.body.equals(answer.body)).toBe(true);
  });

  test("that is asked for twice at once under one key is one, with its secret, on two replicas", async () => {
    const replica = await service.listen();
    const call = { method: "POST", path: keys(), token: admin.token, json: {}, idempotencyKey: randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) => (n % 2 === 0 ? service : replica).call(call)),
    );
    const minted = answers.filter(({ status }) => status === 201);
    expect(new Set(minted.map(({ json }) => json["auth_key"])).size).toBe(1);
    for (const { status, json } of answers)
      if (status !== 201) expect(json["error"]).toBe("idempotency_in_progress");
    expect(await listed()).toHaveLength(1);
    expect((await replica.call(call)).json).toEqual(minted[0]?.json);
    await replica.close();
  });

  test("is listed while it lets agents in, and no longer", async () => {
    const active = await mint();
    const revoked = await mint();
    const expired = await mint({ expires_in_s: 60 });
    const burned = await mint();
    const usedUp = await mint({ max_uses: 1 });
    expect(await listed()).toEqual([usedUp, burned, expired, revoked, active].map(({ id }) => id));
    await admin.post(`${keys()}/${revoked.id}/revoke`);
    await service.pool.query("update auth_keys set expires_at = now() where id = $1", [expired.id]);
    for (let n = 0; n < 5; n++) await attach(`${burned.auth_key.slice(0, 15)}${"A".repeat(32)}`);
    await attach(usedUp.auth_key);
    expect(await listed()).toEqual([active.id]);
  });

  test("that is revoked lets nobody in, at once on every replica; who is in stays in", async () => {
    const replica = await service.listen();
    const { id, auth_key } = await mint();
    const agent = await attach(auth_key);
    const revoked = await admin.post(`${keys()}/${id}/revoke`);
    expect(revoked.json).toMatchObject({ id, uses: 1, revoked_at: expect.stringMatching(/Z$/) });
    expect(revoked.json).not.toHaveProperty("auth_key");
    const refused = await replica.call({
      method: "POST",
      path: "/api/bootstrap/attach",
      token: auth_key,
      json: attachBody(),
    });
    expect([refused.status, refused.json["error"]]).toEqual([401, "auth_key_invalid"]);
    const head = await service.call({
      method: "GET",
      path: "/v1/log/head",
      token: String(agent.json["api_token"]),
    });
    expect(head.status).toBe(200);
    const again = await admin.post(`${keys()}/${id}/revoke`);
    expect([again.status, again.json["error"]]).toEqual([409, "conflict"]);
    await replica.close();
  });

  test("is burned by the fifth wrong secret, exactly, on two replicas at once; the right one is refused after it", async () => {
    const replica = await service.listen();
    const { id, auth_key } = await mint();
    const wrong = `${auth_key.slice(0, 15)}${"A".repeat(32)}`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? service : replica).call({
          method: "POST",
          path: "/api/bootstrap/attach",
          token: wrong,
          json: attachBody(),
          from: ownAddress(),
        }),
      ),
    );
    const invalid = answers.filter(
      ({ status, json }) => status === 401 && json["error"] === "auth_key_invalid",
    );
    const burned = answers.filter(
      ({ status, json }) => status === 403 && json["error"] === "auth_key_burned",
    );
    expect([invalid.length, burned.length]).toEqual([4, 16]);
    expect((await attach(auth_key)).json["error"]).toBe("auth_key_burned");
    const { rows } = await service.pool.query("select wrong_attempts, uses from auth_keys where id = $1", [
      id,
    ]);
    expect(rows).toEqual([{ wrong_attempts: 5, uses: 0 }]);
    await replica.close();
  });
});

test("a key of another organisation is not found, and stays", async () => {
  const { id } = await mint();
  const another = await service.signIn(await service.addOrg());
  expect((await another.post(`${keys()}/${id}/revoke`)).status).toBe(404);
  expect(await listed()).toEqual([id]);
});
