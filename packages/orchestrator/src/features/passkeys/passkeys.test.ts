/** Passkeys, and whoever tries to get in with a forged or stolen one. */
import { MAX_PASSKEYS } from "@attestore/contract";
import { describe, expect, test } from "vitest";
import {
  creationOptions,
  errorOf,
  mailedCode,
  newAttempt,
  newAuthenticator,
  org,
  post,
  register,
  requestOptions,
  service,
  signInWith,
  subjects,
  usePasskeyService,
  user,
  verify,
  withPasskey,
} from "../../../test/passkey-sign-in.ts";
import type { Wrong } from "../../../test/software-authenticator.ts";

usePasskeyService();

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
