import { randomUUID } from "node:crypto";
import { SESSION_TOKEN } from "@attestore/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownAddress, type Answer } from "../../../test/client.ts";
import { startTestService, type TestOrg, type TestService, type TestUser } from "../../../test/service.ts";
import { RATE_LIMITS } from "../../platform/http/route/rate-limits.ts";

let service: TestService;
let org: TestOrg;
let user: TestUser;
beforeAll(async () => {
  const many = { limit: 100_000 };
  service = await startTestService({
    rateLimits: {
      login_email: { ...RATE_LIMITS.login_email, ...many },
      login_mailbox: { ...RATE_LIMITS.login_mailbox, ...many },
      verify_email: { ...RATE_LIMITS.verify_email, ...many },
    },
  });
  org = await service.addOrg();
  user = await service.signIn(org, "admin");
});
afterAll(() => service.close());

const post = (path: string, json: unknown, more: object = {}): Promise<Answer> =>
  service.call({ method: "POST", path, json, from: ownAddress(), ...more });

/** Of one browser, whichever network it is in. */
const attempt = "an-attempt-of-this-test";

async function login(email = user.email): Promise<string> {
  const answer = await post("/api/auth/login", { email, attempt });
  expect([answer.status, answer.json]).toEqual([202, { status: "code_sent", expires_in_s: 900 }]);
  return service.codeFor(email);
}

const verify = (code: string, more: object = {}): Promise<Answer> =>
  post("/api/auth/verify", { email: user.email, code, attempt }, more);

const expectInvalid = ({ status, json }: Answer): void =>
  expect([status, json["error"]]).toEqual([401, "code_invalid"]);

/** Of the code's form, and another code. */
const other = (code: string): string => `${code.startsWith("A") ? "B" : "A"}${code.slice(1)}`;

describe("a login code", () => {
  test("is mailed, and gives a session as a token and as a cookie", async () => {
    const answer = await verify(await login());
    expect(answer.status).toBe(200);
    const token = answer.json["session_token"] as string;
    expect(token).toMatch(SESSION_TOKEN);
    expect(answer.json["user"]).toEqual({
      id: user.id,
      created_at: expect.any(String),
      org_id: org.id,
      email: user.email,
      role: "admin",
      status: "active",
    });
    expect(answer.json["org"]).toMatchObject({ id: org.id, slug: org.slug, public_log: false });
    expect(String(answer.headers["set-cookie"])).toMatch(
      new RegExp(
        `^__Host-attestore_session=${token}; Path=/; Secure; HttpOnly; SameSite=Strict; Expires=.* GMT$`,
      ),
    );
    const days = (new Date(answer.json["expires_at"] as string).getTime() - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(6.99);
    expect(days).toBeLessThanOrEqual(7);
    const me = await service.call({ method: "GET", path: "/api/auth/me", token });
    expect(me.json).toEqual({
      user: answer.json["user"],
      org: answer.json["org"],
      impersonated_by: null,
      auditor_link: null,
      passkey_required: false,
    });
    const byCookie = await service.call({
      method: "GET",
      path: "/api/auth/me",
      headers: { cookie: `other=1; __Host-attestore_session=${token}` },
    });
    expect(byCookie.json).toEqual(me.json);
  });

  test("may be typed in lower case and without its hyphen, for the address in any case", async () => {
    const code = await login();
    const answer = await post("/api/auth/verify", {
      email: user.email.toUpperCase(),
      attempt,
      code: code.toLowerCase().replace("-", ""),
    });
    expect(answer.status).toBe(200);
  });

  test("works once, also when 10 come at the same time", async () => {
    const code = await login();
    const answers = await Promise.all(Array.from({ length: 10 }, () => verify(code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectInvalid(answer);
    expectInvalid(await verify(code));
  });

  test("is worth nothing once there is a newer one, or after 15 minutes", async () => {
    const older = await login();
    const newer = await login();
    expectInvalid(await verify(older));
    await service.pool.query("update one_time_codes set expires_at = now() where email = $1", [user.email]);
    expectInvalid(await verify(newer));
  });

  test("is burned by five wrong tries, and four leave it as it is", async () => {
    const kept = await login();
    for (let n = 0; n < 4; n++) expectInvalid(await verify(other(kept)));
    expect((await verify(kept)).status).toBe(200);
    const burned = await login();
    for (let n = 0; n < 4; n++) expectInvalid(await verify(other(burned)));
    expectInvalid(await verify("no code at all"));
    expectInvalid(await verify(burned));
  });

  test("is burned exactly so on two replicas at once: no right code gets through after five wrong ones", async () => {
    const replica = await service.listen();
    const code = await login();
    const wrong = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        (n % 2 === 0 ? service : replica).call({
          method: "POST",
          path: "/api/auth/verify",
          json: { email: user.email, code: other(code), attempt },
          from: ownAddress(),
        }),
      ),
    );
    for (const answer of wrong) expectInvalid(answer);
    const { rows } = await service.pool.query("select wrong_tries from one_time_codes where email = $1", [
      user.email,
    ]);
    expect(rows).toEqual([{ wrong_tries: 5 }]);
    expectInvalid(await verify(code));
    await replica.close();
  });

  test("is for its own address and for signing in", async () => {
    const another = await service.signIn(org);
    const code = await login();
    expectInvalid(await post("/api/auth/verify", { email: another.email, code, attempt }));
    expectInvalid(await post("/api/auth/signup/verify", { email: user.email, code, attempt }));
    expect((await verify(code)).status).toBe(200);
  });

  test("is answered again under its Idempotency-Key, sealed, without another session", async () => {
    const from = ownAddress();
    const idempotencyKey = randomUUID();
    const code = await login();
    const first = await verify(code, { from, idempotencyKey });
    const again = await verify(code, { from, idempotencyKey });
    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect(again.body.equals(first.body)).toBe(true);
    const { rows } = await service.pool.query<{ body: Buffer }>("select body from idempotency_keys");
    for (const { body } of rows) expect(body.includes(String(first.json["session_token"]))).toBe(false);
  });

  test("is nowhere in the database but sealed", async () => {
    const code = await login();
    for (const table of ["one_time_codes", "mail_outbox", "api_logs", "idempotency_keys"]) {
      const { rows } = await service.pool.query<{ row: string }>(`select t::text as row from ${table} as t`);
      for (const { row } of rows) expect(row).not.toContain(code);
    }
  });

  test("is not burned, replaced or limited by a stranger who tries codes and asks for others", async () => {
    const [home, stranger] = [ownAddress(), ownAddress()];
    const from = (address: string, path: string, json: object): Promise<Answer> =>
      service.call({ method: "POST", path, json: { email: user.email, ...json }, from: address });
    for (const mine of [{}, { attempt }]) {
      expect((await from(home, "/api/auth/login", mine)).status).toBe(202);
      const code = await service.codeFor(user.email);
      for (let n = 0; n < 10; n++)
        expectInvalid(await from(stranger, "/api/auth/verify", { code: other(code) }));
      expect((await from(stranger, "/api/auth/login", {})).status).toBe(202);
      expect((await from(home, "/api/auth/verify", { ...mine, code })).status).toBe(200);
    }
  });

  test("is for the browser that asked for it, also beside others in its network", async () => {
    const code = await login();
    const beside = "an-attempt-of-a-neighbour";
    const from = ownAddress();
    for (let n = 0; n < 6; n++) {
      expectInvalid(await post("/api/auth/verify", { email: user.email, code: other(code) }, { from }));
      // Not even the right code is of use to them.
      expectInvalid(await post("/api/auth/verify", { email: user.email, code, attempt: beside }, { from }));
      expectInvalid(await post("/api/auth/verify", { email: user.email, code }, { from: ownAddress() }));
    }
    expect((await verify(code, { from })).status).toBe(200);
  });

  test("is not mailed to somebody who was removed", async () => {
    const gone = await service.signIn(org);
    await service.pool.query("update users set removed_at = now() where id = $1", [gone.id]);
    expect((await post("/api/auth/login", { email: gone.email })).status).toBe(202);
    expect(await service.mails(gone.email)).toEqual([]);
  });
});

test("an operator signs in, and has no organisation", async () => {
  const operator = await service.signIn(null);
  const code = await login(operator.email);
  const answer = await post("/api/auth/verify", { email: operator.email, code, attempt });
  expect(answer.json).toMatchObject({ org: null, user: { role: "operator", email: operator.email } });
  expect(answer.json["user"]).not.toHaveProperty("org_id");
});

describe("an unknown address", () => {
  test("is answered the same, and is mailed nothing", async () => {
    const known = await post("/api/auth/login", { email: user.email });
    const unknown = await post("/api/auth/login", { email: "nobody@example.org" });
    expect(unknown.status).toBe(known.status);
    expect(unknown.body.equals(known.body)).toBe(true);
    expect(Object.keys(unknown.headers).sort()).toEqual(Object.keys(known.headers).sort());
    expect(await service.mails("nobody@example.org")).toEqual([]);
    expectInvalid(await post("/api/auth/verify", { email: "nobody@example.org", code: "ABCD-EFGH" }));
  });
});

describe("signing out", () => {
  test("ends the session at once on every replica, and clears the cookie", async () => {
    const replica = await service.listen();
    const token = (await verify(await login())).json["session_token"] as string;
    const me = { method: "GET", path: "/api/auth/me", token };
    expect((await replica.call(me)).status).toBe(200);
    const answer = await service.call({ method: "POST", path: "/api/auth/logout", token });
    expect([answer.status, answer.json]).toEqual([200, { status: "signed_out" }]);
    expect(String(answer.headers["set-cookie"])).toMatch(/^__Host-attestore_session=;.*Max-Age=0$/);
    for (const where of [service, replica]) {
      const refused = await where.call(me);
      expect([refused.status, refused.json["error"]]).toEqual([401, "session_expired"]);
    }
    expect((await user.get("/api/auth/me")).status).toBe(200);
    await replica.close();
  });

  test("by cookie takes the service's own origin", async () => {
    const token = (await verify(await login())).json["session_token"] as string;
    const cookie = `__Host-attestore_session=${token}`;
    const logout = (headers: Record<string, string>): Promise<Answer> =>
      service.call({ method: "POST", path: "/api/auth/logout", headers: { cookie, ...headers } });
    expect((await logout({})).status).toBe(403);
    expect((await logout({ origin: "https://evil.example" })).status).toBe(403);
    expect((await logout({ origin: service.url })).status).toBe(200);
  });
});

test.each([
  ["past its absolute end", "expires_at = now()"],
  ["idle for 12 hours", "last_used_at = now() - interval '12 hours'"],
])("a session %s is over", async (_, change) => {
  const token = (await verify(await login())).json["session_token"] as string;
  await service.pool.query(`update sessions set ${change} where token_sha256 = sha256($1)`, [
    Buffer.from(token),
  ]);
  const answer = await service.call({ method: "GET", path: "/api/auth/me", token });
  expect([answer.status, answer.json["error"]]).toEqual([401, "session_expired"]);
});

test.each([
  ["/api/auth/login", { email: "no address" }],
  ["/api/auth/login", { email: "a@b\r\nBcc: c@d" }],
  ["/api/auth/login", { email: "a@b", more: 1 }],
  ["/api/auth/login", {}],
  ["/api/auth/verify", { email: "a@example.org" }],
  ["/api/auth/verify", { email: "a@example.org", code: 12 }],
  ["/api/auth/verify", { email: "a@example.org", code: "x".repeat(33) }],
])("%s %j is a bad request", async (path, body) => {
  const answer = await post(path, body);
  expect([answer.status, answer.json["error"]]).toEqual([400, "invalid_request"]);
});
