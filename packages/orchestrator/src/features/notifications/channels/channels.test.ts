import { type ChannelRecord, ChannelWithSecret, type DeliveryRecord, newId } from "@attestore/contract";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestOrg, type TestService, type TestUser } from "../../../../test/service.ts";

let service: TestService;
let org: TestOrg;
let owner: TestUser;
let auditor: TestUser;
let stranger: TestUser;
let base: string;
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
  owner = await service.signIn(org);
  auditor = await service.signIn(org, "auditor");
  stranger = await service.signIn(await service.addOrg());
  base = `/api/orgs/${org.id}/notifications`;
});
afterAll(() => service.close());

const webhook = (more: object = {}) => ({
  kind: "webhook",
  url: "https://hooks.example.org/attestore",
  ...more,
});

async function added(body: object): Promise<ChannelRecord & { secret: string | null }> {
  const { status, json } = await owner.post(`${base}/channels`, body);
  expect([status, ...Value.Errors(ChannelWithSecret, json)], JSON.stringify(json)).toEqual([201]);
  return json as unknown as ChannelRecord & { secret: string | null };
}

test("a webhook's secret is shown once, and is sealed in the database", async () => {
  const { secret, ...channel } = await added(webhook({ name: "pager", types: ["backup.failed"] }));
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(channel).toMatchObject({ kind: "webhook", status: "active", types: ["backup.failed"], email: null });
  expect((await owner.get(`${base}/channels/${channel.id}`)).json).toEqual(channel);
  expect((await auditor.get(`${base}/channels`)).json["items"]).toContainEqual(channel);
  const { rows } = await service.pool.query<{ sealed_secret: Buffer }>(
    "select sealed_secret from notification_channels where id = $1",
    [channel.id],
  );
  const key = Buffer.from(secret?.slice(6) ?? "", "base64");
  expect(rows[0]?.sealed_secret.includes(key)).toBe(false);
});

test("a repeated call gives the same secret, and makes no second channel", async () => {
  const idempotencyKey = "01890a5d-ac96-774b-bcce-b302099a8aaa";
  const body = webhook({ name: "twice" });
  const answers = await Promise.all([
    owner.post(`${base}/channels`, body, { idempotencyKey }),
    owner.post(`${base}/channels`, body, { idempotencyKey }),
  ]);
  const again = await owner.post(`${base}/channels`, body, { idempotencyKey });
  expect(again.status).toBe(201);
  for (const { status, json } of answers) if (status === 201) expect(json).toEqual(again.json);
  const { json } = await owner.get(`${base}/channels?limit=200`);
  expect((json["items"] as ChannelRecord[]).filter(({ name }) => name === "twice")).toHaveLength(1);
});

test("mails go to users of the organisation, each once", async () => {
  const channel = await added({ kind: "email", email: auditor.email.toUpperCase(), weekly_evidence: true });
  expect(channel).toMatchObject({ email: auditor.email, user_id: auditor.id, secret: null, types: null });
  const twice = await owner.post(`${base}/channels`, { kind: "email", email: auditor.email });
  expect([twice.status, twice.json["error"]]).toEqual([409, "already_exists"]);
  for (const email of [stranger.email, "nobody@example.org"]) {
    const { status, json } = await owner.post(`${base}/channels`, { kind: "email", email });
    expect([status, json["error"]]).toEqual([400, "invalid_request"]);
  }
});

test("the channel of a user who left is switched off", async () => {
  const leaver = await service.signIn(org, "auditor");
  const { id } = await added({ kind: "email", email: leaver.email });
  expect((await owner.delete(`/api/orgs/${org.id}/users/${leaver.id}`)).status).toBe(200);
  expect((await owner.get(`${base}/channels/${id}`)).json).toMatchObject({
    status: "disabled",
    disabled_reason: "user_removed",
    email: null,
  });
});

test.each([
  ["ftp://hooks.example.org/"],
  ["http://hooks.example.org/"],
  ["https://user:word@hooks.example.org/"],
  ["https://127.0.0.1/"],
  ["https://0x7f.1/"],
  ["https://2130706433/"],
  ["https://10.1.2.3:8443/"],
  ["https://169.254.169.254/latest/meta-data"],
  ["https://[::1]/"],
  ["https://[::ffff:127.0.0.1]/"],
  ["https://[fd00::1]/"],
  ["https://[64:ff9b::7f00:1]/"],
  ["https://[2002:7f00:1::]/"],
  ["https://localhost/"],
  ["https://LOCALHOST./"],
  ["https://db.localhost/"],
  ["not a URL"],
])("no webhook goes to %s", async (url) => {
  const { status, json } = await owner.post(`${base}/channels`, webhook({ url }));
  expect([status, json["error"]]).toEqual([400, "invalid_request"]);
  expect(JSON.stringify(json["details"])).toContain("/url");
});

test("a channel is changed, switched off and on, given a new secret, and removed", async () => {
  const { id, secret } = await added(webhook());
  const path = `${base}/channels/${id}`;
  const changed = await owner.patch(path, {
    name: "chat",
    url: "https://chat.example.org/#x",
    types: ["agent.silent"],
  });
  expect(changed.json).toMatchObject({
    name: "chat",
    url: "https://chat.example.org/",
    types: ["agent.silent"],
  });
  expect((await owner.patch(path, { weekly_evidence: true })).status).toBe(400);
  expect((await owner.patch(path, { types: [] })).status).toBe(400);
  expect((await owner.patch(path, { types: ["backup.succeeded"] })).status).toBe(400);

  const tested = await owner.post(`${path}/test`);
  expect(tested.status).toBe(202);
  const delivery = `${base}/deliveries/${String(tested.json["delivery_id"])}`;
  expect((await owner.get(delivery)).json).toMatchObject({
    channel_id: id,
    type: "notification.test",
    status: "pending",
    attempts: 0,
    tried: [],
    data: { org: { id: org.id }, asked_by: owner.email },
  });
  expect((await owner.post(`${delivery}/retry`)).status).toBe(409);
  expect((await owner.patch(path, { status: "disabled" })).json).toMatchObject({
    disabled_reason: "by_user",
  });
  expect((await owner.get(delivery)).json).toMatchObject({ status: "cancelled", next_attempt_at: null });
  expect((await owner.post(`${path}/test`)).status).toBe(409);
  expect((await owner.post(`${delivery}/retry`)).status).toBe(409);
  expect((await owner.patch(path, { status: "active" })).json).toMatchObject({ status: "active" });
  expect((await owner.post(`${delivery}/retry`)).status).toBe(202);
  expect((await owner.get(delivery)).json).toMatchObject({ status: "pending" });

  const renewed = await owner.post(`${path}/rotate-secret`);
  expect(renewed.json["secret"]).toMatch(/^whsec_/);
  expect(renewed.json["secret"]).not.toBe(secret);

  expect((await owner.delete(path)).status).toBe(200);
  expect((await owner.get(path)).status).toBe(404);
  expect((await owner.post(`${path}/test`)).status).toBe(404);
  const log = await owner.get(`${base}/deliveries?channel_id=${id}`);
  expect((log.json["items"] as DeliveryRecord[]).map(({ status }) => status)).toEqual(["cancelled"]);
  const { rows } = await service.pool.query(
    "select sealed_secret, former_sealed_secret from notification_channels where id = $1",
    [id],
  );
  expect(rows).toEqual([{ sealed_secret: null, former_sealed_secret: null }]);
});

test("auditors read, managers change, and nobody else sees anything", async () => {
  const { id } = await added(webhook());
  const path = `${base}/channels/${id}`;
  for (const call of [
    auditor.post(`${base}/channels`, webhook()),
    auditor.patch(path, { name: "x" }),
    auditor.delete(path),
    auditor.post(`${path}/test`),
    auditor.post(`${path}/rotate-secret`),
  ])
    expect((await call).status).toBe(403);
  const elsewhere = `/api/orgs/${(await service.addOrg()).id}/notifications/channels/${id}`;
  for (const call of [
    stranger.get(`${base}/channels`),
    stranger.get(path),
    stranger.delete(path),
    stranger.get(`${base}/deliveries`),
    owner.get(elsewhere),
    owner.get(`${base}/channels/${newId("channel")}`),
    owner.get(`${base}/deliveries/${newId("delivery")}`),
  ])
    expect((await call).status).toBe(404);
});

test("the number of channels is limited", async () => {
  const other = await service.addOrg();
  const manager = await service.signIn(other, "admin");
  const path = `/api/orgs/${other.id}/notifications/channels`;
  const answers = await Promise.all(Array.from({ length: 55 }, () => manager.post(path, webhook())));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(5);
});
