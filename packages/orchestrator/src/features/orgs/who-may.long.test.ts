/**
 * Every call about an organisation's people, agents, keys and attaches: who may make it, and what
 * nobody gets to see.
 */
import { randomUUID } from "node:crypto";
import { newId } from "@attestore/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ownAddress } from "../../../test/client.ts";
import {
  attachBody,
  startTestService,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
let ids: { user: string; agent: string; key: string; code: string };
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());
beforeEach(async () => {
  org = await service.addOrg();
  const owner = await service.signIn(org);
  const { rows } = await service.pool.query<{ id: string }>("select id from auth_keys where org_id = $1", [
    org.id,
  ]);
  ids = {
    user: (await service.signIn(org, "auditor")).id,
    agent: (await service.attach(org)).id,
    key: rows[0]?.id ?? "",
    code: await newBootstrap(),
  };
  // The one that stays, whoever else is changed.
  expect(owner.id).not.toBe(ids.user);
});

async function newBootstrap(): Promise<string> {
  const json = attachBody();
  const begun = await service.call({
    method: "POST",
    path: "/api/bootstrap/start",
    json,
    from: ownAddress(),
  });
  return begun.json["code"] as string;
}

type Role = "owner" | "admin" | "auditor" | "operator";
const READERS: Role[] = ["owner", "admin", "auditor"];
const MANAGERS: Role[] = ["owner", "admin"];
const EVERYBODY: Role[] = [...READERS, "operator"];

interface Row {
  call: string;
  may: Role[];
  status: number;
  body?: () => object;
  bad?: unknown[];
}

/** `:x` in a path stands for the fixture's. */
const CALLS: Row[] = [
  { call: "GET /api/orgs/:org", may: EVERYBODY, status: 200 },
  {
    call: "PATCH /api/orgs/:org",
    may: MANAGERS,
    status: 200,
    body: () => ({ public_log: true }),
    bad: [{}, { name: "" }, { name: "..." }, { slug: "x" }, { public_log: "yes" }],
  },
  {
    call: "POST /api/orgs/:org/users",
    may: MANAGERS,
    status: 201,
    body: () => ({ email: `${randomUUID()}@example.org`, role: "auditor" }),
    bad: [{}, { email: "a@b" }, { email: "no", role: "admin" }, { email: "a@b", role: "operator" }],
  },
  { call: "GET /api/orgs/:org/users", may: EVERYBODY, status: 200 },
  {
    call: "PATCH /api/orgs/:org/users/:user",
    may: MANAGERS,
    status: 200,
    body: () => ({ role: "admin", name: "Someone" }),
    bad: [{}, { role: "operator" }, { name: "" }, { email: "a@b" }],
  },
  { call: "DELETE /api/orgs/:org/users/:user", may: MANAGERS, status: 200 },
  { call: "GET /api/orgs/:org/agents", may: READERS, status: 200 },
  { call: "GET /api/orgs/:org/agents/:agent", may: READERS, status: 200 },
  {
    call: "PATCH /api/orgs/:org/agents/:agent",
    may: MANAGERS,
    status: 200,
    body: () => ({ name: "db-1 (Frankfurt)" }),
    bad: [{}, { name: "" }, { name: " x" }, { name: "x".repeat(101) }, { name: "x", status: "revoked" }],
  },
  { call: "POST /api/orgs/:org/agents/:agent/revoke", may: MANAGERS, status: 200, bad: [{ reason: "x" }] },
  {
    call: "POST /api/orgs/:org/auth-keys",
    may: MANAGERS,
    status: 201,
    body: () => ({ name: "rack 7", max_uses: 3 }),
    bad: [
      { expires_in_s: 0 },
      { expires_in_s: 90 * 86_400 + 1 },
      { max_uses: 0 },
      { max_uses: 1.5 },
      { name: "\n" },
    ],
  },
  { call: "GET /api/orgs/:org/auth-keys", may: READERS, status: 200 },
  { call: "POST /api/orgs/:org/auth-keys/:key/revoke", may: MANAGERS, status: 200 },
  { call: "GET /api/orgs/:org/bootstraps/:code", may: EVERYBODY, status: 200 },
  { call: "POST /api/orgs/:org/bootstraps/:code/approve", may: ["owner", "admin", "operator"], status: 200 },
  { call: "POST /api/orgs/:org/bootstraps/:code/deny", may: ["owner", "admin", "operator"], status: 200 },
];

function requestOf(row: Row, orgId = org.id): { method: string; path: string; json?: unknown } {
  const [method = "", pattern = ""] = row.call.split(" ");
  const path = pattern
    .replace(":org", orgId)
    .replace(":user", ids.user)
    .replace(":agent", ids.agent)
    .replace(":key", ids.key)
    .replace(":code", ids.code);
  return { method, path, ...(row.body === undefined ? {} : { json: row.body() }) };
}

const signIn = (role: Role, of = org): Promise<TestUser> =>
  role === "operator" ? service.signIn(null) : service.signIn(of, role);

/** What the organisation is, in all that these calls change. */
async function snapshot(): Promise<string> {
  const { rows } = await service.pool.query<{ all: string }>(
    `select jsonb_build_array(
      (select jsonb_agg(o) from orgs o where id = $1),
      (select jsonb_agg(u order by id) from users u where org_id = $1),
      (select jsonb_agg(a order by id) from agents a where org_id = $1),
      (select jsonb_agg(k order by id) from auth_keys k where org_id = $1),
      (select jsonb_agg(b order by id) from bootstraps b where status <> 'pending' and org_id = $1),
      (select tree_size from logs where org_id = $1))::text as all`,
    [org.id],
  );
  return rows[0]?.all ?? "";
}

describe.each(CALLS)("$call", (row) => {
  test.each(EVERYBODY)("as %s", async (role) => {
    const { token } = await signIn(role);
    const before = await snapshot();
    const answer = await service.call({ ...requestOf(row), token });
    if (row.may.includes(role)) {
      expect(answer.status, answer.body.toString()).toBe(row.status);
      if (row.call.startsWith("GET")) expect(await snapshot()).toBe(before);
      else expect(await snapshot()).not.toBe(before);
    } else {
      expect([answer.status, answer.json["error"]]).toEqual([403, "forbidden"]);
      expect(await snapshot()).toBe(before);
    }
  });

  test("by somebody of another organisation: not found, whatever their role, and nothing changes", async () => {
    const another = await service.addOrg();
    for (const role of READERS) {
      const { token } = await signIn(role, another);
      const before = await snapshot();
      const answer = await service.call({ ...requestOf(row), token });
      expect([answer.status, answer.json["error"]]).toEqual([404, "not_found"]);
      expect(await snapshot()).toBe(before);
    }
  });

  test("without a session, or with another credential: unauthenticated", async () => {
    const agent = await service.attach(org);
    for (const token of [undefined, agent.token, org.authKey, `atss_${"A".repeat(43)}`, "x"]) {
      const answer = await service.call({ ...requestOf(row), token });
      expect([answer.status, answer.json["error"]]).toEqual([401, "unauthenticated"]);
    }
  });

  test("with invalid identifiers: not found", async () => {
    const { token } = await signIn("owner");
    const { method, path, json } = requestOf(row);
    const last = path.split("/").findLast((segment) => segment.includes("_") || segment === ids.code) ?? "";
    for (const wrong of ["x", "%00", "..%2f", newId("receipt"), last.toUpperCase() + "0"]) {
      const answer = await service.call({ method, path: path.replace(last, wrong), token, json });
      expect([answer.status, answer.json["error"]], wrong).toEqual([404, "not_found"]);
    }
  });

  test("with a bad body or query: invalid_request, and nothing changes", async () => {
    const { token } = await signIn("owner");
    const { method, path } = requestOf(row);
    const before = await snapshot();
    for (const json of row.bad ?? [{ unknown: 1 }, []]) {
      if (method === "GET") continue;
      const answer = await service.call({ method, path, token, json });
      expect([answer.status, answer.json["error"]], JSON.stringify(json)).toEqual([400, "invalid_request"]);
    }
    const answer = await service.call({ ...requestOf(row), path: `${path}?unknown=1`, token });
    expect([answer.status, answer.json["error"]]).toEqual([400, "invalid_request"]);
    expect(await snapshot()).toBe(before);
  });
});

test.each(CALLS.filter(({ call }) => /:(user|agent|key)/.test(call)))(
  "$call with another organisation's path and this one's records: not found",
  async (row) => {
    const another = await service.addOrg();
    const { token } = await signIn("owner", another);
    const before = await snapshot();
    const answer = await service.call({ ...requestOf(row, another.id), token });
    expect([answer.status, answer.json["error"]]).toEqual([404, "not_found"]);
    expect(await snapshot()).toBe(before);
  },
);

test.each(CALLS.filter(({ call }) => !call.startsWith("GET")))(
  "$call repeated under one Idempotency-Key, ten at once: one effect, one answer",
  async (row) => {
    const { token } = await signIn("owner");
    const call = { ...requestOf(row), token, idempotencyKey: randomUUID() };
    const answers = await Promise.all(Array.from({ length: 10 }, () => service.call(call)));
    for (const { status, json } of answers)
      if (status !== row.status) expect([status, json["error"]]).toEqual([409, "idempotency_in_progress"]);
    const done = answers.filter(({ status }) => status === row.status);
    expect(done.filter(({ headers }) => headers["idempotent-replayed"] === undefined)).toHaveLength(1);
    expect(new Set(done.map(({ body }) => body.toString())).size).toBe(1);
    const after = await snapshot();
    const again = await service.call(call);
    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect(again.body.equals(done[0]?.body ?? Buffer.alloc(0))).toBe(true);
    expect(await snapshot()).toBe(after);
  },
);
