import { randomUUID } from "node:crypto";
import { request } from "node:https";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ownAddress, type Answer } from "../../../test/client.ts";
import { startTestService, type TestOrg, type TestService, type TestUser } from "../../../test/service.ts";

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

const users = (): string => `/api/orgs/${org.id}/users`;
/** By a code of the mailbox, as a person does. */
async function signIn(email: string): Promise<Answer> {
  await service.call({ method: "POST", path: "/api/auth/login", json: { email }, from: ownAddress() });
  const json = { email, code: await service.codeFor(email) };
  return service.call({ method: "POST", path: "/api/auth/verify", json });
}

const inDays = (from: unknown, days: number): string =>
  new Date(Date.parse(String(from)) + days * 86_400_000).toISOString();
/** As if it had been sent so long ago. */
const backdate = (id: unknown, days: number): Promise<unknown> =>
  service.pool.query("update users set created_at = created_at - make_interval(days => $2) where id = $1", [
    id,
    days,
  ]);

const errorOf = ({ status, json }: Answer): unknown[] => [status, json["error"]];

describe("an invitation", () => {
  test("is pending until the person signs in with a code of that mailbox, where they belong nowhere else", async () => {
    const email = "Grace.Hopper@example.org";
    const answer = await owner.post(users(), { email, role: "auditor", name: "Grace" });
    expect(answer.status, answer.body.toString()).toBe(201);
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^user_/),
      created_at: expect.any(String),
      org_id: org.id,
      email,
      name: "Grace",
      role: "auditor",
      status: "pending",
      invitation_expires_at: inDays(answer.json["created_at"], 7),
    });
    const [mail] = await service.mails(email);
    expect(mail?.text).toContain(`${service.url}/login`);
    expect(mail?.text).toContain("as auditor");
    const typed = email.toLowerCase();
    await service.call({
      method: "POST",
      path: "/api/auth/login",
      json: { email: typed },
      from: ownAddress(),
    });
    const json = { email: typed, code: await service.codeFor(email) };
    const signedIn = await service.call({ method: "POST", path: "/api/auth/verify", json });
    const { invitation_expires_at: _, ...member } = { ...answer.json, status: "active" } as Record<
      string,
      unknown
    >;
    expect(signedIn.json["user"]).toEqual(member);
    expect((await owner.get(users())).json["items"]).toContainEqual(member);
  });

  test("tells nothing of whether the address has an account elsewhere: same answer, same mail", async () => {
    const elsewhere = await service.signIn(await service.addOrg());
    const operator = await service.signIn(null);
    const seen = [];
    for (const email of [elsewhere.email, operator.email, "unknown@example.org"]) {
      const { status, json } = await owner.post(users(), { email, role: "admin" });
      const { id, created_at, invitation_expires_at: _at, email: _, ...rest } = json;
      expect([typeof id, typeof created_at]).toEqual(["string", "string"]);
      const mails = (await service.mails(email)).map(({ subject, text }) => [subject, text]);
      seen.push(JSON.stringify([status, rest, mails]));
    }
    expect(seen[0]).toContain('[201,{"org_id"');
    expect(new Set(seen).size).toBe(1);
  });

  test("of somebody whom the organisation has, or has invited, is refused and mails nothing", async () => {
    await owner.post(users(), { email: "asked@example.org", role: "admin" });
    for (const email of [owner.email, "asked@example.org"]) {
      const before = (await service.mails(email)).length;
      const answer = await owner.post(users(), { email: email.toUpperCase(), role: "admin" });
      expect(errorOf(answer)).toEqual([409, "already_exists"]);
      expect(await service.mails(email)).toHaveLength(before);
    }
  });

  test("gives somebody who belongs elsewhere nothing until they accept it", async () => {
    const theirs = await service.addOrg();
    const person = await service.signIn(theirs, "admin");
    const invited = await owner.post(users(), { email: person.email.toUpperCase(), role: "owner" });
    const id = String(invited.json["id"]);
    const orgsOf = async () =>
      ((await person.get("/api/orgs")).json["items"] as { id: string }[]).map((one) => one.id);
    expect(errorOf(await person.post("/api/auth/switch", { org_id: org.id }))).toEqual([404, "not_found"]);
    expect(await orgsOf()).toEqual([theirs.id]);
    expect((await signIn(person.email)).json["org"]).toMatchObject({ id: theirs.id });
    // Nor is anything mailed to them, and an owner who was only invited is none that could stay.
    const channel = { kind: "email", email: person.email };
    const channels = `/api/orgs/${org.id}/notifications/channels`;
    expect((await owner.post(channels, channel)).status).toBe(400);
    expect(errorOf(await owner.post(`/api/orgs/${org.id}/leave`))).toEqual([409, "conflict"]);

    const waiting = (await person.get("/api/auth/invitations")).json["items"];
    expect(waiting).toEqual([
      {
        id,
        created_at: invited.json["created_at"],
        expires_at: inDays(invited.json["created_at"], 7),
        org_id: org.id,
        org_name: expect.any(String),
        role: "owner",
      },
    ]);
    const stranger = await service.signIn(theirs, "owner");
    expect((await stranger.get("/api/auth/invitations")).json["items"]).toEqual([]);
    const accept = `/api/auth/invitations/${id}/accept`;
    expect(errorOf(await stranger.post(accept))).toEqual([404, "not_found"]);
    expect((await person.post(accept)).json).toMatchObject({ id, status: "active", org_id: org.id });
    expect(errorOf(await person.post(accept))).toEqual([404, "not_found"]);
    expect((await person.get("/api/auth/invitations")).json["items"]).toEqual([]);
    expect(new Set(await orgsOf())).toEqual(new Set([theirs.id, org.id]));
    expect((await owner.post(channels, channel)).status).toBe(201);
  });

  test("that is older than 7 days lets nobody in, shows as ended, and another may be sent", async () => {
    const person = await service.signIn(await service.addOrg());
    const invite = (email: string) => owner.post(users(), { email, role: "auditor" });
    const [elsewhere, nowhere] = [await invite(person.email), await invite("expired@example.org")];
    for (const { json } of [elsewhere, nowhere]) await backdate(json["id"], 8);
    expect((await person.get("/api/auth/invitations")).json["items"]).toEqual([]);
    const accept = `/api/auth/invitations/${String(elsewhere.json["id"])}/accept`;
    expect(errorOf(await person.post(accept))).toEqual([404, "not_found"]);
    expect((await service.mails("expired@example.org"))[0]?.text).toContain("7 days");
    await expect(signIn("expired@example.org")).rejects.toThrow("no code");
    const shown = (await owner.get(users())).json["items"] as { id: string; invitation_expires_at: string }[];
    const ended = shown.find(({ id }) => id === elsewhere.json["id"]);
    expect(Date.parse(ended?.invitation_expires_at ?? "")).toBeLessThan(Date.now());
    const again = await invite(person.email.toUpperCase());
    expect(again.status).toBe(201);
    expect((await person.post(`/api/auth/invitations/${String(again.json["id"])}/accept`)).status).toBe(200);
    await backdate(again.json["id"], 8);
    expect((await person.post("/api/auth/switch", { org_id: org.id })).status).toBe(200);
  });

  test("can be declined by the person alone, and then is gone", async () => {
    const person = await service.signIn(await service.addOrg());
    const { json } = await owner.post(users(), { email: person.email, role: "auditor" });
    const decline = `/api/auth/invitations/${String(json["id"])}/decline`;
    expect(errorOf(await owner.post(decline))).toEqual([404, "not_found"]);
    expect((await person.post(decline)).json).toEqual({ status: "declined" });
    expect(errorOf(await person.post(decline))).toEqual([404, "not_found"]);
    expect(errorOf(await person.post(decline.replace("decline", "accept")))).toEqual([404, "not_found"]);
    expect((await person.get("/api/auth/invitations")).json["items"]).toEqual([]);
    const { id } = (await person.get("/api/auth/me")).json["user"] as { id: string };
    expect(errorOf(await person.post(`/api/auth/invitations/${id}/decline`))).toEqual([404, "not_found"]);
  });

  test("that was withdrawn lets nobody in", async () => {
    const email = "withdrawn@example.org";
    const { json } = await owner.post(users(), { email, role: "auditor" });
    await service.call({
      method: "POST",
      path: "/api/auth/login",
      json: { email },
      from: ownAddress(),
    });
    expect((await owner.delete(`${users()}/${String(json["id"])}`)).status).toBe(200);
    const code = await service.codeFor(email);
    const answer = await service.call({ method: "POST", path: "/api/auth/verify", json: { email, code } });
    expect(errorOf(answer)).toEqual([401, "code_invalid"]);
  });

  test("of one address ten times at once makes one user and one mail, and most of them are too many", async () => {
    const body = { email: "raced@example.org", role: "admin" };
    const answers = await Promise.all(Array.from({ length: 10 }, () => owner.post(users(), body)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(7);
    expect(await service.mails("raced@example.org")).toHaveLength(1);
  });

  test("counts once against the limits, however often it is repeated under its key", async () => {
    const email = "repeated@example.org";
    const call = {
      method: "POST",
      path: users(),
      token: owner.token,
      json: { email, role: "auditor" },
      idempotencyKey: randomUUID(),
    } as const;
    const answers = await Promise.all(Array.from({ length: 10 }, () => service.call(call)));
    for (const { status, json } of answers)
      expect([201, "idempotency_in_progress"]).toContain(status === 201 ? status : json["error"]);
    expect((await service.call(call)).headers["idempotent-replayed"]).toBe("true");
    for (const { status } of [
      await owner.post(users(), { email, role: "auditor" }),
      await owner.post(users(), { email, role: "auditor" }),
    ])
      expect(status).toBe(409);
    expect((await owner.post(users(), { email, role: "auditor" })).status).toBe(429);
    expect(await service.mails(email)).toHaveLength(1);
  });

  test("brings no text of the inviter's into a mailbox, and no more than three in a day, whoever invites", async () => {
    const email = "stranger@example.org";
    const organisations = [];
    for (let n = 0; n < 5; n += 1) {
      const theirs = await service.addOrg(`Prize ${n}: https://evil.example/`);
      organisations.push(theirs);
      const inviter = await service.signIn(theirs);
      await service.pool.query("update users set name = 'Call +1 555 0100' where id = $1", [inviter.id]);
      const path = `/api/orgs/${theirs.id}/users`;
      const invited = await inviter.post(path, { email, role: "auditor" });
      expect(invited.status).toBe(n < 3 ? 201 : 429);
      if (invited.status === 201) await inviter.delete(`${path}/${String(invited.json["id"])}`);
    }
    const mails = await service.mails(email);
    expect(mails).toHaveLength(3);
    for (const { subject, text } of mails) expect(`${subject} ${text}`).not.toMatch(/evil|Prize|555/);
    expect(mails[0]?.text).toContain(organisations[0]?.id);
  });
});

describe("somebody who belongs to two organisations", () => {
  let second: TestOrg;
  let person: TestUser;
  beforeEach(async () => {
    second = await service.addOrg();
    person = await service.signIn(org, "auditor");
    const inviter = await service.signIn(second);
    const path = `/api/orgs/${second.id}/users`;
    const { json } = await inviter.post(path, { email: person.email, role: "admin" });
    await person.post(`/api/auth/invitations/${String(json["id"])}/accept`);
  });

  const switched = async (token: string, org_id: string): Promise<Answer> =>
    service.call({ method: "POST", path: "/api/auth/switch", token, json: { org_id } });
  const me = (token: string): Promise<Answer> => service.call({ method: "GET", path: "/api/auth/me", token });

  test("changes between them, with the role that each gave, and signs in where they were last", async () => {
    const answer = await switched(person.token, second.id);
    expect(answer.status, answer.body.toString()).toBe(200);
    const token = String(answer.json["session_token"]);
    expect(String(answer.headers["set-cookie"])).toContain(token);
    expect((await me(token)).json).toMatchObject({ org: { id: second.id }, user: { role: "admin" } });
    // Each session is of one of them: the other's records are not there.
    expect((await person.get(`/api/orgs/${second.id}`)).status).toBe(404);
    const there = { method: "GET", path: `/api/orgs/${org.id}`, token };
    expect((await service.call(there)).status).toBe(404);
    expect((await signIn(person.email)).json["org"]).toMatchObject({ id: second.id });
    const { rows } = await service.pool.query(
      "select distinct expires_at from sessions where token_sha256 in (sha256($1), sha256($2))",
      [Buffer.from(token), Buffer.from(person.token)],
    );
    expect(rows).toHaveLength(1);
    // Signing out of the one signs out of what came of it.
    await service.call({ method: "POST", path: "/api/auth/logout", token });
    expect(errorOf(await person.get("/api/auth/me"))).toEqual([401, "session_expired"]);
  });

  test("cannot switch to an organisation where they do not belong, or no longer do", async () => {
    const foreign = await service.addOrg();
    expect(errorOf(await switched(person.token, foreign.id))).toEqual([404, "not_found"]);
    const token = String((await switched(person.token, second.id)).json["session_token"]);
    expect((await owner.delete(`${users()}/${person.id}`)).status).toBe(200);
    expect(errorOf(await switched(token, org.id))).toEqual([404, "not_found"]);
    expect((await me(person.token)).status).toBe(401);
    // The other organisation's session is not this one's to end.
    expect((await me(token)).status).toBe(200);
  });

  test("leaves one and stays in the other", async () => {
    const token = String((await switched(person.token, second.id)).json["session_token"]);
    const left = await person.post(`/api/orgs/${org.id}/leave`);
    expect([left.status, left.json]).toEqual([200, { status: "left" }]);
    expect(errorOf(await person.get("/api/auth/me"))).toEqual([401, "session_expired"]);
    expect((await me(token)).status).toBe(200);
    expect((await signIn(person.email)).json["org"]).toMatchObject({ id: second.id });
    const listed = (await owner.get(users())).json["items"] as { id: string }[];
    expect(listed.map(({ id }) => id)).not.toContain(person.id);
  });

  test("shows only one of them to an operator who acts as them", async () => {
    const operator = await service.signIn(null);
    const acting = await operator.post("/api/auth/impersonate", { user_id: person.id, reason: "x" });
    const token = String(acting.json["session_token"]);
    const get = (path: string) => service.call({ method: "GET", path, token });
    const listed = (await get("/api/orgs")).json["items"] as { id: string }[];
    expect(listed.map(({ id }) => id)).toEqual([org.id]);
    expect((await get("/api/auth/invitations")).json["items"]).toEqual([]);
    expect(errorOf(await switched(token, second.id))).toEqual([403, "forbidden"]);
  });
});

test("the last owner cannot leave; with a second one they can", async () => {
  const leave = `/api/orgs/${org.id}/leave`;
  expect(errorOf(await owner.post(leave))).toEqual([409, "conflict"]);
  await service.signIn(org);
  expect((await owner.post(leave)).status).toBe(200);
});

describe("an admin", () => {
  test("makes, changes and removes no owner", async () => {
    const admin = await service.signIn(org, "admin");
    const auditor = await service.signIn(org, "auditor");
    const refusals = [
      await admin.post(users(), { email: "x@example.org", role: "owner" }),
      await admin.patch(`${users()}/${admin.id}`, { role: "owner" }),
      await admin.patch(`${users()}/${auditor.id}`, { role: "owner" }),
      await admin.patch(`${users()}/${owner.id}`, { role: "auditor" }),
      await admin.delete(`${users()}/${owner.id}`),
    ];
    for (const refusal of refusals) expect(errorOf(refusal)).toEqual([403, "forbidden"]);
    expect((await admin.patch(`${users()}/${auditor.id}`, { role: "admin" })).status).toBe(200);
    expect((await owner.patch(`${users()}/${admin.id}`, { role: "owner" })).status).toBe(200);
  });
});

describe("a change", () => {
  test("of the role holds from the next call on, on every replica", async () => {
    const replica = await service.listen();
    const admin = await service.signIn(org, "admin");
    const rename = { method: "PATCH", path: `/api/orgs/${org.id}`, token: admin.token, json: { name: "X" } };
    expect((await replica.call(rename)).status).toBe(200);
    await owner.patch(`${users()}/${admin.id}`, { role: "auditor" });
    expect((await replica.call(rename)).status).toBe(403);
    await replica.close();
  });

  test("of the name takes it away with null", async () => {
    const named = await owner.patch(`${users()}/${owner.id}`, { name: "Ada" });
    expect(named.json).toMatchObject({ name: "Ada", role: "owner" });
    const unnamed = await owner.patch(`${users()}/${owner.id}`, { name: null });
    expect(unnamed.json).not.toHaveProperty("name");
  });
});

/** A call of somebody who was let in, and whose body has yet to come. */
async function admitted(user: TestUser, method: string, path: string, json: object) {
  // Only a session that was not used for a while is marked as used when it is looked up.
  const aged = "update sessions set last_used_at = now() - interval '5 minutes' where user_id = $1";
  await service.pool.query(aged, [user.id]);
  const body = JSON.stringify(json);
  const outgoing = request({
    host: "127.0.0.1",
    servername: "localhost",
    port: service.port,
    ca: service.ca,
    method,
    path,
    headers: {
      authorization: `Bearer ${user.token}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    },
  });
  const answered = new Promise<unknown[]>((resolve, reject) => {
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      let text = "";
      incoming.setEncoding("utf8");
      incoming.on("data", (chunk: string) => (text += chunk));
      incoming.on("end", () =>
        resolve([incoming.statusCode, (JSON.parse(text) as { error?: string }).error]),
      );
    });
  });
  outgoing.flushHeaders();
  const used = "select last_used_at > now() - interval '1 minute' as used from sessions where user_id = $1";
  const isUsed = async () => (await service.pool.query<{ used: boolean }>(used, [user.id])).rows[0]?.used;
  await expect.poll(isUsed, { timeout: 20_000 }).toBe(true);
  return () => {
    outgoing.end(body);
    return answered;
  };
}

describe("a call that was let in before, and whose body comes after", () => {
  test("its caller's removal or sign-out, changes nothing", async () => {
    for (const end of [
      (user: TestUser) => owner.delete(`${users()}/${user.id}`),
      (user: TestUser) => user.post("/api/auth/logout"),
    ]) {
      const gone = await service.signIn(org);
      const finish = await admitted(gone, "PATCH", `/api/orgs/${org.id}`, { name: "Taken over" });
      expect((await end(gone)).status).toBe(200);
      expect(await finish()).toEqual([401, "session_expired"]);
    }
    expect((await owner.get(`/api/orgs/${org.id}`)).json["name"]).not.toBe("Taken over");
  });

  test("a change of their role, is judged by the new one", async () => {
    const admin = await service.signIn(org, "admin");
    const rename = await admitted(admin, "PATCH", `/api/orgs/${org.id}`, { name: "Taken over" });
    await owner.patch(`${users()}/${admin.id}`, { role: "auditor" });
    expect(await rename()).toEqual([403, "forbidden"]);
    const second = await service.signIn(org);
    const invite = await admitted(second, "POST", users(), { email: "o@example.org", role: "owner" });
    await owner.patch(`${users()}/${second.id}`, { role: "admin" });
    expect(await invite()).toEqual([403, "forbidden"]);
    expect(await service.mails("o@example.org")).toEqual([]);
  });
});

describe("the last owner", () => {
  test("can neither go nor become something else", async () => {
    expect(errorOf(await owner.delete(`${users()}/${owner.id}`))).toEqual([409, "conflict"]);
    expect(errorOf(await owner.patch(`${users()}/${owner.id}`, { role: "admin" }))).toEqual([
      409,
      "conflict",
    ]);
    expect((await owner.patch(`${users()}/${owner.id}`, { role: "owner", name: "Still" })).status).toBe(200);
  });

  test("stays when two owners remove each other, or step down, at the same time", async () => {
    for (let round = 0; round < 5; round++) {
      const one = await service.addOrg();
      const [a, b] = [await service.signIn(one), await service.signIn(one)];
      const path = (user: TestUser): string => `/api/orgs/${one.id}/users/${user.id}`;
      const answers = await Promise.all([
        a.delete(path(b)),
        round % 2 === 0 ? b.delete(path(a)) : b.patch(path(b), { role: "admin" }),
      ]);
      const { rows } = await service.pool.query<{ n: number }>(
        "select count(*) as n from users where org_id = $1 and role = 'owner' and removed_at is null",
        [one.id],
      );
      expect(rows, answers.map(({ body }) => body.toString()).join("\n")).toEqual([{ n: 1 }]);
    }
  });
});

test("a removed user is signed out on every replica at once and not listed, and the address is free", async () => {
  const replica = await service.listen();
  const gone = await service.signIn(org, "admin");
  const me = { method: "GET", path: "/api/auth/me", token: gone.token };
  expect((await replica.call(me)).status).toBe(200);
  const removed = await owner.delete(`${users()}/${gone.id}`);
  expect([removed.status, removed.json["id"]]).toEqual([200, gone.id]);
  for (const where of [service, replica])
    expect(errorOf(await where.call(me))).toEqual([401, "session_expired"]);
  expect(errorOf(await owner.delete(`${users()}/${gone.id}`))).toEqual([404, "not_found"]);
  expect(errorOf(await owner.patch(`${users()}/${gone.id}`, { name: "X" }))).toEqual([404, "not_found"]);
  const listed = (await owner.get(users())).json as unknown as { items: { id: string }[] };
  expect(listed.items.map(({ id }) => id)).toEqual([owner.id]);
  const again = await owner.post(users(), { email: gone.email, role: "auditor" });
  expect(again.status).toBe(201);
  expect(again.json["id"]).not.toBe(gone.id);
  await replica.close();
});

test("users are listed in pages, newest first", async () => {
  const made = [owner.id];
  for (let n = 0; n < 4; n++) made.push((await service.signIn(org, "auditor")).id);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? "" : `&cursor=${cursor}`;
    const page = (await owner.get(`${users()}?limit=2${query}`)).json as unknown as {
      items: { id: string }[];
      next_cursor: string | null;
    };
    seen.push(...page.items.map(({ id }) => id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(seen).toEqual([...made].sort().reverse());
});
