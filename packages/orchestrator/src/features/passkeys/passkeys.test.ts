/** Passkeys and recovery codes, and whoever tries to get in beside them. */
import { MAX_PASSKEYS } from "@attestore/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ownAddress, type Answer, type Call } from "../../../test/client.ts";
import { startTestService, type TestOrg, type TestService, type TestUser } from "../../../test/service.ts";
import {
  type AssertionAsked,
  type CreationAsked,
  SoftwareAuthenticator,
  type Wrong,
} from "../../../test/software-authenticator.ts";
import { RATE_LIMITS } from "../../platform/http/rate-limits.ts";

let service: TestService;
let org: TestOrg;
let user: TestUser;
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
});
afterAll(() => service.close());
beforeEach(async () => {
  user = await service.signIn(org, "admin");
});

let attempts = 0;
const newAttempt = (): string => `attempt-of-a-passkey-${++attempts}`;

const post = (path: string, json: unknown, more: Partial<Call> = {}): Promise<Answer> =>
  service.call({ method: "POST", path, json, from: ownAddress(), ...more });

const errorOf = ({ status, json }: Answer): unknown[] => [status, json["error"]];

const newAuthenticator = (): SoftwareAuthenticator => new SoftwareAuthenticator(service.url);

async function creationOptions(by: TestUser): Promise<CreationAsked> {
  const asked = await by.post("/api/auth/passkeys/options");
  expect(asked.status).toBe(200);
  return asked.json as unknown as CreationAsked;
}

async function register(
  by: TestUser,
  authenticator = newAuthenticator(),
  wrong: Wrong = {},
): Promise<Answer> {
  const credential = authenticator.create(await creationOptions(by), wrong);
  return by.post("/api/auth/passkeys", { name: "Laptop", credential });
}

/** With its first passkey, and the recovery codes that came with it. */
async function withPasskey(by = user): Promise<{ authenticator: SoftwareAuthenticator; codes: string[] }> {
  const authenticator = newAuthenticator();
  const added = await register(by, authenticator);
  expect(added.status).toBe(201);
  return { authenticator, codes: added.json["recovery_codes"] as string[] };
}

async function requestOptions(attempt: string): Promise<AssertionAsked> {
  const asked = await post("/api/auth/passkey/options", { attempt });
  expect(asked.status).toBe(200);
  return asked.json as unknown as AssertionAsked;
}

async function signInWith(authenticator: SoftwareAuthenticator, wrong: Wrong = {}): Promise<Answer> {
  const attempt = newAttempt();
  const credential = authenticator.get(await requestOptions(attempt), wrong);
  return post("/api/auth/passkey/verify", { attempt, credential });
}

async function mailedCode(attempt: string, email = user.email): Promise<string> {
  await post("/api/auth/login", { email, attempt });
  return service.codeFor(email);
}

const verify = (body: Record<string, unknown>, more: Partial<Call> = {}): Promise<Answer> =>
  post("/api/auth/verify", { email: user.email, ...body }, more);

/** As if they had signed in so long ago. */
async function signedInAgo({ id }: TestUser, minutes: number): Promise<void> {
  await service.pool.query(
    "update sessions set signed_in_at = now() - make_interval(mins => $2::int) where user_id = $1",
    [id, minutes],
  );
}

const subjects = async (): Promise<string[]> =>
  (await service.mails(user.email)).map(({ subject }) => subject);

describe("a passkey", () => {
  test("is added, listed and renamed, signs in without an address, and is removed", async () => {
    const { authenticator } = await withPasskey();
    const listed = await user.get("/api/auth/passkeys");
    const [passkey] = listed.json["items"] as { id: string }[];
    expect(listed.json).toEqual({
      items: [
        {
          id: passkey?.id,
          name: "Laptop",
          created_at: expect.any(String),
          last_used_at: null,
          synced: false,
        },
      ],
      recovery_codes_left: 10,
    });
    const renamed = await user.patch(`/api/auth/passkeys/${passkey?.id}`, { name: "Key ring" });
    expect([renamed.status, renamed.json["name"]]).toEqual([200, "Key ring"]);
    const answer = await signInWith(authenticator);
    expect([answer.status, answer.json["user"]]).toEqual([200, expect.objectContaining({ id: user.id })]);
    expect(String(answer.headers["set-cookie"])).toMatch(/^__Host-attestore_session=atss_/);
    const removed = await user.delete(`/api/auth/passkeys/${passkey?.id}`);
    expect(removed.status).toBe(200);
    expect(errorOf(await signInWith(authenticator))).toEqual([401, "passkey_invalid"]);
    // Ceremonies that the passkey had begun are over, too.
    const session = { token: answer.json["session_token"] as string };
    expect((await service.call({ method: "GET", path: "/api/auth/me", ...session })).status).toBe(401);
    expect((await user.get("/api/auth/me")).status).toBe(200);
    expect(await subjects()).toEqual([
      "A passkey was added to your Attestore account",
      "A passkey was removed from your Attestore account",
    ]);
  });

  test("signs in after its person changed to another organisation, and joins them there", async () => {
    const { authenticator } = await withPasskey();
    const other = await service.addOrg();
    await service.pool.query(
      "insert into users (id, org_id, email, role) select 'user_' || right($1, 25) || 'x', $2, upper(email), 'auditor' from users where id = $1",
      [user.id, other.id],
    );
    const signedIn = await signInWith(authenticator);
    const switched = await post(
      "/api/auth/switch",
      { org_id: other.id },
      { token: signedIn.json["session_token"] as string },
    );
    expect(switched.status).toBe(200);
    const token = switched.json["session_token"] as string;
    const listed = await service.call({ method: "GET", path: "/api/auth/passkeys", token });
    expect(listed.json["items"]).toHaveLength(1);
  });

  test.each<[string, Wrong]>([
    ["made for a page of another origin", { origin: "https://evil.example" }],
    ["made for the same host over plain HTTP", { origin: "http://localhost" }],
    ["made for another host", { rpId: "evil.example" }],
    ["over another challenge", { challenge: "AAAA" }],
    ["without the user's verification", { userVerified: false }],
    ["of another kind of ceremony", { type: "webauthn.create" }],
    ["that says it is somebody else's", { userHandle: "c29tZWJvZHkgZWxzZQ" }],
  ])("is refused with an assertion %s", async (_what, wrong) => {
    const { authenticator } = await withPasskey();
    expect(errorOf(await signInWith(authenticator, wrong))).toEqual([401, "passkey_invalid"]);
    expect((await signInWith(authenticator)).status).toBe(200);
  });

  test.each<[string, Wrong]>([
    ["for a page of another origin", { origin: "https://evil.example" }],
    ["for another host", { rpId: "evil.example" }],
    ["over another challenge", { challenge: "AAAA" }],
    ["without the user's verification", { userVerified: false }],
    ["as the answer to a sign-in", { type: "webauthn.get" }],
    ["with an attestation, which nobody asked for", { format: "tpm" }],
  ])("is not added when it was made %s", async (_what, wrong) => {
    expect(errorOf(await register(user, newAuthenticator(), wrong))).toEqual([401, "passkey_invalid"]);
    expect((await user.get("/api/auth/passkeys")).json["items"]).toEqual([]);
  });

  test("of one person does not sign in as another whose credential's id is claimed", async () => {
    const { authenticator: victims } = await withPasskey();
    const { authenticator: attackers } = await withPasskey(await service.signIn(org, "auditor"));
    const attempt = newAttempt();
    const asked = await requestOptions(attempt);
    const id = victims.id.toString("base64url");
    const forged = { ...attackers.get(asked, { userHandle: victims.userHandle }), id, rawId: id };
    const answer = await post("/api/auth/passkey/verify", { attempt, credential: forged });
    expect(errorOf(answer)).toEqual([401, "passkey_invalid"]);
  });

  test("that somebody has already is not added again", async () => {
    const { authenticator } = await withPasskey();
    const other = await service.signIn(org, "auditor");
    expect(errorOf(await register(other, authenticator))).toEqual([409, "already_exists"]);
  });

  test("whose counter goes back is refused, and its person is told", async () => {
    const { authenticator } = await withPasskey();
    for (const counter of [1, 5]) expect((await signInWith(authenticator, { counter })).status).toBe(200);
    for (const counter of [5, 4, 0])
      expect(errorOf(await signInWith(authenticator, { counter }))).toEqual([401, "passkey_invalid"]);
    expect((await signInWith(authenticator, { counter: 6 })).status).toBe(200);
    const refused = (await subjects()).filter((subject) => subject.includes("refused"));
    expect(refused).toEqual(Array(3).fill("A passkey of your Attestore account was refused"));
  });

  test("of somebody who was removed signs nobody in, and nobody who is invited in their place", async () => {
    const { authenticator } = await withPasskey();
    const owner = await service.signIn(org);
    await owner.delete(`/api/orgs/${org.id}/users/${user.id}`);
    expect(errorOf(await signInWith(authenticator))).toEqual([401, "passkey_invalid"]);
    await owner.post(`/api/orgs/${org.id}/users`, { email: user.email, role: "auditor" });
    expect(errorOf(await signInWith(authenticator))).toEqual([401, "passkey_invalid"]);
    // The present owner of the mailbox is not asked for a former owner's recovery codes.
    const attempt = newAttempt();
    expect((await verify({ code: await mailedCode(attempt), attempt })).status).toBe(200);
    expect(errorOf(await signInWith(authenticator))).toEqual([401, "passkey_invalid"]);
  });

  test("is one of twenty at most", async () => {
    await withPasskey();
    await service.pool.query(
      `insert into passkeys select id || n, email, credential_id || n::text::bytea, public_key, counter, transports, synced, name
       from passkeys, generate_series(2, $2::int) as n where email = $1`,
      [user.email, MAX_PASSKEYS],
    );
    expect(errorOf(await user.post("/api/auth/passkeys/options"))).toEqual([409, "conflict"]);
  });
});

describe("a challenge", () => {
  test("works once, for the attempt that it was given to, for five minutes", async () => {
    const { authenticator } = await withPasskey();
    const attempt = newAttempt();
    const credential = authenticator.get(await requestOptions(attempt));
    const body = { attempt, credential };
    const elsewhere = { ...body, attempt: newAttempt() };
    expect(errorOf(await post("/api/auth/passkey/verify", elsewhere))).toEqual([401, "passkey_invalid"]);
    expect((await post("/api/auth/passkey/verify", body)).status).toBe(200);
    expect(errorOf(await post("/api/auth/passkey/verify", body))).toEqual([401, "passkey_invalid"]);
    const late = { attempt, credential: authenticator.get(await requestOptions(attempt)) };
    await service.pool.query("update passkey_challenges set expires_at = now()");
    expect(errorOf(await post("/api/auth/passkey/verify", late))).toEqual([401, "passkey_invalid"]);
  });

  test("is used up by a refused try, and by the first of ten at once", async () => {
    const { authenticator } = await withPasskey();
    const attempt = newAttempt();
    const asked = await requestOptions(attempt);
    const wrong = { attempt, credential: authenticator.get(asked, { userVerified: false }) };
    expect((await post("/api/auth/passkey/verify", wrong)).status).toBe(401);
    const right = { attempt, credential: authenticator.get(asked) };
    expect(errorOf(await post("/api/auth/passkey/verify", right))).toEqual([401, "passkey_invalid"]);
    const again = { attempt, credential: authenticator.get(await requestOptions(attempt)) };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post("/api/auth/passkey/verify", again)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("of adding a passkey is its session's: another's answer to it, and the same again, are refused", async () => {
    const other = await service.signIn(org, "auditor");
    const credential = newAuthenticator().create(await creationOptions(other));
    const body = { name: "Laptop", credential };
    expect(errorOf(await user.post("/api/auth/passkeys", body))).toEqual([401, "passkey_invalid"]);
    expect((await other.post("/api/auth/passkeys", body)).status).toBe(201);
    expect(errorOf(await other.post("/api/auth/passkeys", body))).toEqual([401, "passkey_invalid"]);
  });

  test("names the host of the configured address, whatever a request's Host says", async () => {
    const asked = await post(
      "/api/auth/passkey/options",
      { attempt: newAttempt() },
      { headers: { host: "evil.example" } },
    );
    expect([asked.status, asked.json["rpId"]]).toEqual([200, "localhost"]);
  });
});

describe("a person with a passkey", () => {
  test("is not signed in by the code from their mailbox alone; with a recovery code they are, once", async () => {
    const { codes } = await withPasskey();
    const attempt = newAttempt();
    const code = await mailedCode(attempt);
    const [first = ""] = codes;
    expect(errorOf(await verify({ code, attempt }))).toEqual([401, "recovery_code_required"]);
    // The refusal has left the code from the mailbox as it was.
    const typed = ` ${first.toLowerCase().replaceAll("-", " ")} `;
    expect((await verify({ code, attempt, recovery_code: typed })).status).toBe(200);
    const next = newAttempt();
    const again = { code: await mailedCode(next), attempt: next, recovery_code: first };
    expect(errorOf(await verify(again))).toEqual([401, "recovery_code_invalid"]);
    expect((await user.get("/api/auth/passkeys")).json["recovery_codes_left"]).toBe(9);
    const mail = (await service.mails(user.email)).find(({ subject }) => subject.includes("was used"));
    expect(mail?.text).toContain("9 recovery codes are left");
  });

  test("cannot be distinguished from others without the code from the mailbox", async () => {
    const without = await service.signIn(org, "auditor");
    await withPasskey();
    const answers = [];
    for (const email of [user.email, without.email, "nobody@example.org"]) {
      const attempt = newAttempt();
      const asked = await post("/api/auth/login", { email, attempt });
      for (const recovery of [{}, { recovery_code: "AAAA-AAAA-AAAA-AAAA" }]) {
        const tried = await post("/api/auth/verify", { email, attempt, code: "AAAA-AAAA", ...recovery });
        const { request_id: _, ...body } = tried.json;
        answers.push([asked.status, asked.json, tried.status, body]);
      }
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  test("five wrong recovery codes burn the code from the mailbox; a stranger's guesses burn nothing", async () => {
    const { codes } = await withPasskey();
    const attempt = newAttempt();
    const code = await mailedCode(attempt);
    const wrong = "AAAA-BBBB-CCCC-DDDD";
    // Without the right code from the mailbox, or from another attempt.
    for (let n = 0; n < 6; n++)
      expect(
        errorOf(await verify({ code: "AAAA-AAAA", attempt: newAttempt(), recovery_code: wrong })),
      ).toEqual([401, "code_invalid"]);
    for (let n = 0; n < 4; n++)
      expect(errorOf(await verify({ code, attempt, recovery_code: wrong }))).toEqual([
        401,
        "recovery_code_invalid",
      ]);
    const next = newAttempt();
    const burned = await mailedCode(next);
    expect((await verify({ code, attempt, recovery_code: codes[0] })).status).toBe(200);
    for (let n = 0; n < 5; n++) await verify({ code: burned, attempt: next, recovery_code: wrong });
    expect(errorOf(await verify({ code: burned, attempt: next, recovery_code: codes[1] }))).toEqual([
      401,
      "code_invalid",
    ]);
  });

  test("guesses are limited by person and network, so that a stranger's lock nobody out", async () => {
    const { codes } = await withPasskey();
    const from = ownAddress();
    const { limit } = RATE_LIMITS.verify_email;
    const guess = { code: "AAAA-AAAA", attempt: newAttempt(), recovery_code: "AAAA-BBBB-CCCC-DDDD" };
    for (let n = 0; n < limit; n++) expect((await verify(guess, { from })).status).toBe(401);
    expect(errorOf(await verify(guess, { from }))).toEqual([429, "rate_limited"]);
    const attempt = newAttempt();
    const code = await mailedCode(attempt);
    expect((await verify({ code, attempt, recovery_code: codes[0] })).status).toBe(200);
  });

  test("makes new recovery codes, and the earlier ones stop working", async () => {
    const { codes } = await withPasskey();
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^([A-Z0-9]{4}-){3}[A-Z0-9]{4}$/);
    const made = await user.post("/api/auth/recovery-codes");
    expect(made.status).toBe(201);
    const [fresh] = made.json["recovery_codes"] as string[];
    const attempt = newAttempt();
    const code = await mailedCode(attempt);
    const old = await verify({ code, attempt, recovery_code: codes[3] });
    expect(errorOf(old)).toEqual([401, "recovery_code_invalid"]);
    expect((await verify({ code, attempt, recovery_code: fresh })).status).toBe(200);
    expect(await subjects()).toContain("New recovery codes for your Attestore account");
    const { rows } = await service.pool.query<{ kept: string }>(
      "select c::text as kept from recovery_codes as c",
    );
    for (const secret of [...codes, fresh]) expect(JSON.stringify(rows)).not.toContain(secret);
  });

  test("gets recovery codes with the first passkey only, and none without one", async () => {
    expect(errorOf(await user.post("/api/auth/recovery-codes"))).toEqual([409, "conflict"]);
    await withPasskey();
    const second = await register(user);
    expect([second.status, second.json["recovery_codes"]]).toEqual([201, null]);
  });
});

describe("a session", () => {
  test("that somebody stole later adds and removes no passkey and makes no codes", async () => {
    await withPasskey();
    const [passkey] = (await user.get("/api/auth/passkeys")).json["items"] as { id: string }[];
    const asked = await creationOptions(user);
    await signedInAgo(user, 11);
    const credential = newAuthenticator().create(asked);
    for (const answer of [
      await user.post("/api/auth/passkeys/options"),
      await user.post("/api/auth/passkeys", { name: "Mine", credential }),
      await user.delete(`/api/auth/passkeys/${passkey?.id}`),
      await user.post("/api/auth/recovery-codes"),
    ]) {
      expect(errorOf(answer)).toEqual([403, "sign_in_again"]);
      expect(answer.json["message"]).toContain("Sign out, sign in again");
    }
    await signedInAgo(user, 9);
    expect((await user.post("/api/auth/recovery-codes")).status).toBe(201);
  });

  test("that a code by mail began before there was a passkey changes none afterwards", async () => {
    const attempt = newAttempt();
    const thief = await verify({ code: await mailedCode(attempt), attempt });
    const token = thief.json["session_token"] as string;
    await withPasskey();
    const options = await post("/api/auth/passkeys/options", undefined, { token });
    expect(errorOf(options)).toEqual([403, "sign_in_again"]);
  });

  test("of another person neither renames nor removes it", async () => {
    await withPasskey();
    const [passkey] = (await user.get("/api/auth/passkeys")).json["items"] as { id: string }[];
    const owner = await service.signIn(org);
    expect((await owner.patch(`/api/auth/passkeys/${passkey?.id}`, { name: "x" })).status).toBe(404);
    expect((await owner.delete(`/api/auth/passkeys/${passkey?.id}`)).status).toBe(404);
    expect((await owner.get("/api/auth/passkeys")).json["items"]).toEqual([]);
  });

  test("of an operator who impersonates neither shows nor changes the user's passkeys", async () => {
    await withPasskey();
    const [passkey] = (await user.get("/api/auth/passkeys")).json["items"] as { id: string }[];
    const operator = await service.signIn(null);
    const acting = await operator.post("/api/auth/impersonate", { user_id: user.id, reason: "support" });
    const token = acting.json["session_token"] as string;
    const calls: Call[] = [
      { method: "GET", path: "/api/auth/passkeys" },
      { method: "POST", path: "/api/auth/passkeys/options" },
      {
        method: "POST",
        path: "/api/auth/passkeys",
        json: {
          name: "x",
          credential: newAuthenticator().create({
            challenge: "AAAA",
            rp: { id: "localhost" },
            user: { id: "AAAA" },
          }),
        },
      },
      { method: "PATCH", path: `/api/auth/passkeys/${passkey?.id}`, json: { name: "x" } },
      { method: "DELETE", path: `/api/auth/passkeys/${passkey?.id}` },
      { method: "POST", path: "/api/auth/recovery-codes" },
    ];
    for (const call of calls)
      expect(errorOf(await service.call({ ...call, token }))).toEqual([403, "forbidden"]);
  });
});

describe("an operator", () => {
  const mailed = async (email: string): Promise<string> => {
    const attempt = newAttempt();
    const code = await mailedCode(attempt, email);
    const answer = await post("/api/auth/verify", { email, attempt, code });
    expect(answer.status).toBe(200);
    return answer.json["session_token"] as string;
  };
  const passkeyRequired = async (token: string): Promise<unknown> =>
    (await service.call({ method: "GET", path: "/api/auth/me", token })).json["passkey_required"];

  test("who signed in with a mailed code can only add a passkey, and then continue", async () => {
    const { email } = await service.signIn(null);
    const token = await mailed(email);
    const calls: Call[] = [
      { method: "GET", path: "/api/orgs" },
      { method: "POST", path: "/api/orgs", json: { name: "Theirs" } },
      { method: "GET", path: `/api/orgs/${org.id}/users` },
      { method: "GET", path: "/api/auth/invitations" },
      { method: "POST", path: "/api/auth/impersonate", json: { user_id: user.id, reason: "support" } },
    ];
    for (const call of calls) {
      const refused = await service.call({ ...call, token });
      expect(errorOf(refused)).toEqual([403, "passkey_required"]);
      expect(refused.json["message"]).toContain("Add one first");
    }
    expect(await passkeyRequired(token)).toBe(true);
    const authenticator = newAuthenticator();
    const asked = await post("/api/auth/passkeys/options", undefined, { token });
    const credential = authenticator.create(asked.json as unknown as CreationAsked);
    const added = await post("/api/auth/passkeys", { name: "Operator's", credential }, { token });
    expect(added.status).toBe(201);
    expect(await passkeyRequired(token)).toBe(false);
    expect((await service.call({ method: "GET", path: "/api/orgs", token })).status).toBe(200);
    const again = await signInWith(authenticator);
    const session = { token: again.json["session_token"] as string };
    const acting = await post("/api/auth/impersonate", { user_id: user.id, reason: "support" }, session);
    expect(acting.status).toBe(200);
    const ended = await post("/api/auth/end-impersonate", undefined, {
      token: acting.json["session_token"] as string,
    });
    expect(await passkeyRequired(ended.json["session_token"] as string)).toBe(false);
    const { id } = added.json["passkey"] as { id: string };
    const last = await service.call({ method: "DELETE", path: `/api/auth/passkeys/${id}`, ...session });
    expect(errorOf(last)).toEqual([409, "conflict"]);
  });

  test("whom a recovery code signed in is held back too, until there is a new passkey", async () => {
    const operator = await service.signIn(null);
    const { codes } = await withPasskey(operator);
    const attempt = newAttempt();
    const code = await mailedCode(attempt, operator.email);
    const body = { email: operator.email, attempt, code, recovery_code: codes[0] };
    const token = (await post("/api/auth/verify", body)).json["session_token"] as string;
    const refused = await service.call({ method: "GET", path: "/api/orgs", token });
    expect(errorOf(refused)).toEqual([403, "passkey_required"]);
    const asked = await post("/api/auth/passkeys/options", undefined, { token });
    const credential = newAuthenticator().create(asked.json as unknown as CreationAsked);
    await post("/api/auth/passkeys", { name: "New", credential }, { token });
    expect((await service.call({ method: "GET", path: "/api/orgs", token })).status).toBe(200);
  });

  test("cannot impersonate in a session from before there were passkeys", async () => {
    const operator = await service.signIn(null);
    const acting = await operator.post("/api/auth/impersonate", { user_id: user.id, reason: "support" });
    const token = acting.json["session_token"] as string;
    await service.pool.query("update sessions set signed_in_with = 'email_code' where user_id = any ($1)", [
      [operator.id, user.id],
    ]);
    const read = await service.call({ method: "GET", path: `/api/orgs/${org.id}/users`, token });
    expect(errorOf(read)).toEqual([403, "passkey_required"]);
  });
});
