import { randomUUID } from "node:crypto";
import { SESSION_TOKEN } from "@attestore/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownAddress, type Answer } from "../../../test/client.ts";
import { startTestService, type TestService } from "../../../test/service.ts";
import { RATE_LIMITS } from "../../platform/http/route/rate-limits.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    rateLimits: {
      signup_email: { ...RATE_LIMITS.signup_email, limit: 100_000 },
      verify_email: { ...RATE_LIMITS.verify_email, limit: 100_000 },
    },
  });
});
afterAll(() => service.close());

const post = (path: string, json: unknown, more: object = {}): Promise<Answer> =>
  service.call({ method: "POST", path, json, from: ownAddress(), ...more });

/** Of one browser, whichever network it is in. */
const attempt = "an-attempt-of-this-test";

let addresses = 0;
const newAddress = (): string => `new.${++addresses}+tag@example.org`;

async function signup(email: string, orgName = `Signup ${email.slice(0, 8)}`): Promise<void> {
  const answer = await post("/api/auth/signup", { email, org_name: orgName, attempt });
  expect([answer.status, answer.json]).toEqual([202, { status: "code_sent", expires_in_s: 900 }]);
}

const verify = (email: string, code: string, more: object = {}): Promise<Answer> =>
  post("/api/auth/signup/verify", { email, code, attempt }, more);

async function orgsNamed(name: string): Promise<number> {
  const { rows } = await service.pool.query<{ n: number }>("select count(*) as n from orgs where name = $1", [
    name,
  ]);
  return rows[0]?.n ?? -1;
}

describe("signing up", () => {
  test("makes the organisation, its log and its owner, once the code is typed", async () => {
    const email = newAddress();
    await signup(email, "Café Zwölf");
    expect(await orgsNamed("Café Zwölf")).toBe(0);
    const answer = await verify(email, await service.codeFor(email));
    expect(answer.status).toBe(200);
    expect(answer.json["session_token"]).toMatch(SESSION_TOKEN);
    const org = answer.json["org"] as { id: string };
    expect(org).toMatchObject({ name: "Café Zwölf", slug: "cafe-zwolf", public_log: false });
    expect(answer.json["user"]).toMatchObject({ email, role: "owner", org_id: org.id });
    expect(String(answer.headers["set-cookie"])).toContain(String(answer.json["session_token"]));
    const { rows } = await service.pool.query("select tree_size from logs where org_id = $1", [org.id]);
    expect(rows).toEqual([{ tree_size: 0 }]);
    const token = answer.json["session_token"] as string;
    const me = await service.call({ method: "GET", path: "/api/auth/me", token });
    expect(me.json).toEqual({
      user: answer.json["user"],
      org: answer.json["org"],
      impersonated_by: null,
      auditor_link: null,
      passkey_required: false,
    });
  });

  test("with a name that others have gives another slug, and does not tell", async () => {
    const slugs = [];
    for (const email of [newAddress(), newAddress()]) {
      await signup(email, "Twice Ltd");
      const answer = await verify(email, await service.codeFor(email));
      expect(answer.status).toBe(200);
      slugs.push((answer.json["org"] as { slug: string }).slug);
    }
    expect(slugs[0]).toBe("twice-ltd");
    expect(slugs[1]).toMatch(/^twice-ltd-[0-9a-f]{8}$/);
  });

  test("with a name without a letter of a-z gives a slug of the organisation's id", async () => {
    const email = newAddress();
    await signup(email, "株式会社");
    const { status, json } = await verify(email, await service.codeFor(email));
    const { id, name, slug } = json["org"] as { id: string; name: string; slug: string };
    expect([status, name, slug]).toEqual([200, "株式会社", id.replace("_", "-")]);
  });

  test("makes one organisation when the code is typed 10 times at once", async () => {
    const email = newAddress();
    await signup(email, "Only One");
    const code = await service.codeFor(email);
    const answers = await Promise.all(Array.from({ length: 10 }, () => verify(email, code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(9);
    expect(await orgsNamed("Only One")).toBe(1);
  });

  test("is answered again under its Idempotency-Key, with one organisation", async () => {
    const email = newAddress();
    await signup(email, "Repeated");
    const more = { from: ownAddress(), idempotencyKey: randomUUID() };
    const code = await service.codeFor(email);
    const first = await verify(email, code, more);
    const again = await verify(email, code, more);
    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect(again.body.equals(first.body)).toBe(true);
    expect(await orgsNamed("Repeated")).toBe(1);
  });

  test("of somebody who was invited meanwhile makes their own, and the invitation waits", async () => {
    const email = newAddress();
    await signup(email, "All The Same");
    const org = await service.addOrg();
    const owner = await service.signIn(org);
    expect((await owner.post(`/api/orgs/${org.id}/users`, { email, role: "auditor" })).status).toBe(201);
    // A second code: whoever was only invited is not told that they have an account.
    await signup(email, "All The Same");
    const answer = await verify(email, await service.codeFor(email));
    expect([answer.status, answer.json["org"]]).toMatchObject([200, { name: "All The Same" }]);
    const users = (await owner.get(`/api/orgs/${org.id}/users`)).json["items"];
    expect(users).toContainEqual(expect.objectContaining({ email, status: "pending" }));
  });

  test("of somebody who has an account since then is refused", async () => {
    const email = newAddress();
    await signup(email, "Too Late");
    const code = await service.codeFor(email);
    const { id } = await service.signIn(await service.addOrg());
    await service.pool.query("update users set email = $1 where id = $2", [email, id]);
    const answer = await verify(email, code);
    expect([answer.status, answer.json["error"]]).toEqual([409, "already_exists"]);
    expect(await orgsNamed("Too Late")).toBe(0);
  });
});

describe("signing up with an address that is known", () => {
  test("is answered the same; the address is told that it has an account, and gets no code", async () => {
    const user = await service.signIn(await service.addOrg());
    const known = await post("/api/auth/signup", { email: user.email, org_name: "Another" });
    const unknown = await post("/api/auth/signup", { email: newAddress(), org_name: "Another" });
    expect(known.status).toBe(unknown.status);
    expect(known.body.equals(unknown.body)).toBe(true);
    const mails = await service.mails(user.email);
    expect(mails.map(({ subject }) => subject)).toEqual(["You already have an Attestore account"]);
    expect(mails[0]?.text).toContain(`${service.url}/login`);
    expect(mails[0]?.text).not.toMatch(/[A-Z0-9]{4}-[A-Z0-9]{4}/);
  });
});

test("the mail contains nothing that the person who typed the address chose", async () => {
  const email = newAddress();
  await signup(email, "Buy now at evil.example");
  for (const { subject, text } of await service.mails(email))
    expect(subject + text).not.toContain("evil.example");
});

test.each([
  { email: "no address", org_name: "X" },
  { email: "a@example.org", org_name: "" },
  { email: "a@example.org", org_name: "..." },
  { email: "a@example.org", org_name: "x".repeat(101) },
  { email: "a@example.org" },
  { email: "a@example.org", org_name: "X", role: "owner" },
])("%j is a bad request", async (body) => {
  const answer = await post("/api/auth/signup", body);
  expect([answer.status, answer.json["error"]]).toEqual([400, "invalid_request"]);
});

describe("where the service is run for others", () => {
  test("nobody signs up once it has an operator, not even with a code from before", async () => {
    const run = await startTestService({ signup: "until-operator" });
    const from = ownAddress();
    const call = (path: string, json: object): Promise<Answer> =>
      run.call({ method: "POST", path, json, from });
    const state = async () => (await run.call({ method: "GET", path: "/api/auth/signup" })).json;
    expect(await state()).toEqual({ open: true, codes: "mail" });
    const email = "first@example.org";
    expect((await call("/api/auth/signup", { email, org_name: "First" })).status).toBe(202);
    const code = await run.codeFor(email);
    await run.signIn(null);
    expect(await state()).toEqual({ open: false, codes: "mail" });
    const late = await call("/api/auth/signup/verify", { email, code });
    expect([late.status, late.json["error"]]).toEqual([403, "forbidden"]);
    for (const address of [email, "second@example.org"]) {
      const refused = await call("/api/auth/signup", { email: address, org_name: "Second" });
      expect([refused.status, refused.json["error"]]).toEqual([403, "forbidden"]);
      expect(refused.json["message"]).toContain("invite");
    }
    const { rows } = await run.pool.query("select id from orgs");
    expect(rows).toEqual([]);
    await run.close();
  });
});
