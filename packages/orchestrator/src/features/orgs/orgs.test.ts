import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownAddress } from "../../../test/client.ts";
import { startTestService, type TestService, type TestUser } from "../../../test/service.ts";

let service: TestService;
let operator: TestUser;
beforeAll(async () => {
  service = await startTestService();
  operator = await service.signIn(null);
});
afterAll(() => service.close());

interface Listed {
  items: { id: string; name: string }[];
  next_cursor: string | null;
}

describe("creating an organisation", () => {
  test("is an operator's; the record is the contract's, and its log exists", async () => {
    const answer = await operator.post("/api/orgs", { name: "Müller & Söhne" });
    expect(answer.status, answer.body.toString()).toBe(201);
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^org_/),
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      name: "Müller & Söhne",
      slug: "muller-sohne",
      public_log: false,
    });
    const { rows } = await service.pool.query("select origin from logs where org_id = $1", [
      answer.json["id"],
    ]);
    expect(rows).toEqual([{ origin: `log.test/${String(answer.json["id"])}` }]);
    const shown = await operator.get(`/api/orgs/${String(answer.json["id"])}`);
    expect(shown.json).toEqual(answer.json);
  });

  test("invites the owner, who signs in with a code", async () => {
    const email = "first.owner@example.org";
    const made = await operator.post("/api/orgs", { name: "With Owner", owner_email: email });
    expect(made.status).toBe(201);
    const [invitation] = await service.mails(email);
    expect(invitation?.subject).toBe("You are invited to an organisation on Attestore");
    expect(invitation?.text).toContain(`${service.url}/login`);
    const login = { method: "POST", path: "/api/auth/login", json: { email }, from: ownAddress() };
    expect((await service.call(login)).status).toBe(202);
    const code = await service.codeFor(email);
    const signedIn = await service.call({ method: "POST", path: "/api/auth/verify", json: { email, code } });
    expect(signedIn.json).toMatchObject({ org: made.json, user: { email, role: "owner" } });
  });

  test("whose owner has an account elsewhere invites them all the same", async () => {
    const user = await service.signIn(await service.addOrg());
    const made = await operator.post("/api/orgs", { name: "Second", owner_email: user.email.toUpperCase() });
    expect(made.status).toBe(201);
    const waiting = (await user.get("/api/auth/invitations")).json["items"];
    expect(waiting).toMatchObject([{ org_id: made.json["id"], org_name: "Second", role: "owner" }]);
  });

  test("whose slug another has makes nothing", async () => {
    expect((await operator.post("/api/orgs", { name: "Slug" })).status).toBe(201);
    expect((await operator.post("/api/orgs", { name: "slug!" })).status).toBe(409);
  });

  test("may have a name in any script: its slug comes from its id where nothing of the name could be in one", async () => {
    const made = [];
    for (const name of ["東京", "東京", "Ελλάδα", "٣", "東京 1", "大阪 1"]) {
      const answer = await operator.post("/api/orgs", { name });
      expect([answer.status, answer.json["name"]], name).toEqual([201, name]);
      made.push(answer.json as { id: string; slug: string });
    }
    const slugs = made.map(({ slug }) => slug);
    expect(slugs.slice(0, 4)).toEqual(made.slice(0, 4).map(({ id }) => id.replace("_", "-")));
    expect([slugs[4], slugs[5]]).toEqual(["1", expect.stringMatching(/^1-[0-9a-f]{8}$/)]);
    expect((await operator.post("/api/orgs", { name: "1" })).status).toBe(409);
    const org = await service.addOrg();
    const owner = await service.signIn(org);
    const renamed = await owner.patch(`/api/orgs/${org.id}`, { name: "京都" });
    expect([renamed.status, renamed.json["name"]]).toEqual([200, "京都"]);
  });

  test.each(["owner", "admin", "auditor"] as const)("is not for an %s", async (role) => {
    const user = await service.signIn(await service.addOrg(), role);
    const answer = await user.post("/api/orgs", { name: "Mine" });
    expect([answer.status, answer.json["error"]]).toEqual([403, "forbidden"]);
  });

  test.each([{}, { name: "" }, { name: "!!!" }, { name: "x", slug: "x" }, { name: "x", owner_email: "no" }])(
    "with %j is a bad request",
    async (body) => {
      const answer = await operator.post("/api/orgs", body);
      expect([answer.status, answer.json["error"]]).toEqual([400, "invalid_request"]);
    },
  );

  test("repeated under one key makes one", async () => {
    const idempotencyKey = randomUUID();
    const answers = [];
    for (let n = 0; n < 2; n++)
      answers.push(await operator.post("/api/orgs", { name: "Once" }, { idempotencyKey }));
    expect(answers[1]?.headers["idempotent-replayed"]).toBe("true");
    expect(answers[1]?.json).toEqual(answers[0]?.json);
  });
});

describe("listing organisations", () => {
  test("shows a user their own, and an operator all, newest first, in pages", async () => {
    const made: string[] = [];
    for (let n = 0; n < 5; n++) made.push((await service.addOrg()).id);
    const user = await service.signIn({ id: made[2] ?? "" }, "auditor");
    const own = (await user.get("/api/orgs")).json as unknown as Listed;
    expect([own.items.map(({ id }) => id), own.next_cursor]).toEqual([[made[2]], null]);
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = (await operator.get(`/api/orgs?limit=2${cursor}`)).json as unknown as Listed;
      seen.push(...page.items.map(({ id }) => id));
      expect(page.items.length).toBeLessThanOrEqual(2);
      cursor = page.next_cursor === null ? "" : `&cursor=${page.next_cursor}`;
    } while (cursor !== "");
    expect(seen).toEqual([...seen].sort().reverse());
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(made));
  });

  test("by time, and refuses anything that is not a page, cursor or moment", async () => {
    const { created_at } = (await operator.post("/api/orgs", { name: "Dated" })).json as {
      created_at: string;
    };
    const from = (await operator.get(`/api/orgs?from=${created_at}`)).json as unknown as Listed;
    expect(from.items.map(({ name }) => name)).toEqual(["Dated"]);
    const to = (await operator.get(`/api/orgs?limit=200&to=${created_at}`)).json as unknown as Listed;
    expect(to.items.map(({ name }) => name)).not.toContain("Dated");
    for (const query of [
      "limit=0",
      "limit=201",
      "limit=x",
      "cursor=x",
      "cursor=",
      "from=yesterday",
      "from=0000-01-01T00:00:00Z",
      "from=0001-01-01T00:00:00%2B01:00",
      "to=9999-12-31T23:00:00-01:00",
      "sort=name",
    ])
      expect((await operator.get(`/api/orgs?${query}`)).status, query).toBe(400);
  });
});

test("a changed name leaves the slug; fields that are not given stay", async () => {
  const org = await service.addOrg();
  const owner = await service.signIn(org);
  const renamed = await owner.patch(`/api/orgs/${org.id}`, { name: "New Name" });
  expect(renamed.json).toMatchObject({ name: "New Name", slug: org.slug, public_log: false });
  const shown = await owner.patch(`/api/orgs/${org.id}`, { public_log: true });
  expect(shown.json).toMatchObject({ name: "New Name", public_log: true });
});
