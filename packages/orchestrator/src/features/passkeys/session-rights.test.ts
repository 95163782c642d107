/** What a session may do with passkeys, and what it may do only with one. */
import { describe, expect, test } from "vitest";
import type { Call } from "../../../test/client.ts";
import {
  creationOptions,
  errorOf,
  mailedCode,
  newAttempt,
  newAuthenticator,
  org,
  post,
  service,
  signInWith,
  signedInAgo,
  usePasskeyService,
  user,
  verify,
  withPasskey,
} from "../../../test/passkey-sign-in.ts";
import type { CreationAsked } from "../../../test/software-authenticator.ts";

usePasskeyService();

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
