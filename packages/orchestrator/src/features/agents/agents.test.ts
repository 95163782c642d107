import { afterAll, beforeAll, expect, test } from "vitest";
import {
  heartbeat,
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
  org = await service.addOrg();
  admin = await service.signIn(org, "admin");
});
afterAll(() => service.close());

interface Listed {
  items: { id: string; status: string; name: string }[];
  next_cursor: string | null;
}

const list = async (query = ""): Promise<Listed> =>
  (await admin.get(`/api/orgs/${org.id}/agents${query}`)).json as unknown as Listed;

test("an agent's record is the contract's", async () => {
  const agent = await service.attach(org);
  const fresh = await admin.get(`/api/orgs/${org.id}/agents/${agent.id}`);
  expect(fresh.json).toEqual({
    id: agent.id,
    created_at: expect.any(String),
    org_id: org.id,
    name: "host-1",
    hostname: "host-1.example.org",
    platform: "linux-x64",
    agent_version: "0.1.0",
    public_key: agent.publicKeyWire,
    key_fingerprint: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/),
    status: "active",
    last_seen_at: null,
    revoked_at: null,
    spool: null,
    remote_config: false,
    encryption: null,
  });
  const kit = { recipient: "age1kit", made_at: "2026-11-20T08:00:00.000Z", tested_at: null };
  const encryption = { recipients: ["age1host", "age1kit"], recovery_kit: kit };
  const says = { agent_version: "0.2.0", spool: { backups: 0, receipts: 3, events: 1 }, encryption };
  await agent.post("/v1/heartbeat", heartbeat(says));
  const seen = await admin.get(`/api/orgs/${org.id}/agents/${agent.id}`);
  expect(seen.json).toMatchObject({ ...says, last_seen_at: expect.stringMatching(/Z$/) });
  expect(await list()).toMatchObject({ items: [seen.json], next_cursor: null });
});

test("renaming an agent changes the service's name for it, but not the agent's own reports", async () => {
  const agent = await service.attach(org);
  const renamed = await admin.patch(`/api/orgs/${org.id}/agents/${agent.id}`, { name: "db-1 (Zürich)" });
  expect(renamed.json).toMatchObject({ id: agent.id, name: "db-1 (Zürich)", hostname: "host-1.example.org" });
  await agent.post("/v1/heartbeat", heartbeat());
  expect((await admin.get(`/api/orgs/${org.id}/agents/${agent.id}`)).json["name"]).toBe("db-1 (Zürich)");
});

test("a revoked agent is refused at once on every replica; its record, key and log entry stay", async () => {
  const replica = await service.listen();
  const agent = await service.attach(org);
  const beat = { method: "POST", path: "/v1/heartbeat", token: agent.token, json: heartbeat() };
  expect((await replica.call(beat)).status).toBe(200);
  const revoked = await admin.post(`/api/orgs/${org.id}/agents/${agent.id}/revoke`);
  expect(revoked.json).toMatchObject({
    id: agent.id,
    status: "revoked",
    public_key: agent.publicKeyWire,
    revoked_at: expect.stringMatching(/Z$/),
  });
  for (const where of [service, replica]) {
    const refused = await where.call(beat);
    expect([refused.status, refused.json["error"]]).toEqual([401, "agent_revoked"]);
  }
  const { rows } = await service.pool.query<{ actor_id: string; body: Buffer }>(
    "select actor_id, body from events where org_id = $1 and kind = 'agent_revoked'",
    [org.id],
  );
  expect(rows.map(({ actor_id }) => actor_id)).toEqual([admin.id]);
  expect(JSON.parse(String(rows[0]?.body))).toMatchObject({ detail: { agent_id: agent.id } });
  const again = await admin.post(`/api/orgs/${org.id}/agents/${agent.id}/revoke`);
  expect([again.status, again.json["error"]]).toEqual([409, "conflict"]);
  await replica.close();
});

test("agents are listed in pages, newest first, by status and by time", async () => {
  const { items } = await list("?limit=200");
  const ids = items.map(({ id }) => id);
  expect(ids).toEqual([...ids].sort().reverse());
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Listed = await list(`?limit=1${cursor === null ? "" : `&cursor=${cursor}`}`);
    seen.push(...page.items.map(({ id }) => id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(seen).toEqual(ids);
  for (const status of ["active", "revoked"])
    expect((await list(`?status=${status}`)).items).toEqual(items.filter((agent) => agent.status === status));
  const later = new Date(Date.now() + 60_000).toISOString();
  expect((await list(`?from=${later}`)).items).toEqual([]);
  expect((await list(`?to=${later}`)).items).toEqual(items);
  for (const query of ["?status=silent", "?source_id=x", `?cursor=${Buffer.from("x").toString("base64url")}`])
    expect((await admin.get(`/api/orgs/${org.id}/agents${query}`)).status, query).toBe(400);
});
