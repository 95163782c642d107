import {
  canonicalJson,
  keyRotationFromJson,
  sshFingerprint,
  parsePublicKeyWire,
  verifyKeyRotation,
} from "@attestore/proof";
import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { makeHistory, type History } from "../../../test/history.ts";
import {
  newKeyPair,
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";
import { restoreTestStatement, signedEnvelope } from "../../../test/log/signed-receipt.ts";
import { signedRotation, type KeyPair } from "../../../test/log/signed-rotation.ts";

let service: TestService;
let org: TestOrg;
let agent: TestAgent;
let history: History;
let owner: TestUser;
let now = new Date();

beforeAll(async () => {
  service = await startTestService({ clock: () => now });
});
afterAll(() => service.close());
beforeEach(async () => {
  now = new Date();
  org = await service.addOrg();
  agent = await service.attach(org);
  history = await makeHistory(service, org, { agent });
  owner = await service.signIn(org);
});

const fingerprint = ({ publicKeyWire }: KeyPair): string => sshFingerprint(parsePublicKeyWire(publicKeyWire));
const rotate = (body: unknown, by = agent) => by.post("/v1/agent/key", body);

/** A restore test's receipt, signed with a key of the agent's. */
function submit(key: KeyPair, finished_at: string, on = service) {
  const publicKey = parsePublicKeyWire(key.publicKeyWire);
  const signer = {
    id: agent.id,
    orgId: org.id,
    publicKey: publicKey.bytes,
    keyFingerprint: sshFingerprint(publicKey),
    token: agent.token,
    privateKey: key.privateKey,
  };
  const [backup] = history.backups;
  const tested = {
    id: backup?.id ?? "",
    sourceId: history.sourceId,
    sha256: backup?.sha256 ?? "",
    sizeBytes: 64,
  };
  return on.call({
    method: "POST",
    path: "/v1/receipts",
    token: agent.token,
    body: signedEnvelope(signer, restoreTestStatement(signer, tested, { finished_at })),
    headers: { "content-type": "application/json" },
  });
}

const after = (moment: string, ms: number): string => new Date(Date.parse(moment) + ms).toISOString();

test("a key that signed for a future moment stays until then: a rotation would make those receipts false", async () => {
  const ahead = after(now.toISOString(), 2 * 3_600_000);
  expect((await submit(agent, ahead)).status).toBe(201);
  const next = newKeyPair();
  const refused = await rotate(signedRotation(agent, agent, next, now.toISOString()));
  expect([refused.status, refused.json["error"]]).toEqual([409, "conflict"]);
  expect(refused.json["details"]).toEqual({ rotate_after: ahead });
  expect((await submit(agent, now.toISOString())).status).toBe(201);
  now = new Date(ahead);
  expect((await rotate(signedRotation(agent, agent, next, ahead))).status).toBe(200);
  expect((await submit(next, after(ahead, 1))).status).toBe(201);
});

test("the new key signs from now on, the old one what ended before; each receipt's bundle has its own key", async () => {
  const next = newKeyPair();
  const at = now.toISOString();
  const body = signedRotation(agent, agent, next, at);
  const answer = await rotate(body);
  expect(answer.status, answer.body.toString()).toBe(200);
  expect(answer.json).toMatchObject({
    agent_id: agent.id,
    public_key: next.publicKeyWire,
    key_fingerprint: fingerprint(next),
    valid_from: at,
    valid_until: null,
  });

  const fromSpool = await submit(agent, at);
  const fresh = await submit(next, after(at, 1));
  expect([fromSpool.status, fresh.status]).toEqual([201, 201]);
  const late = await submit(agent, after(at, 2));
  expect([late.status, late.json["error"]]).toEqual([422, "receipt_signature_invalid"]);
  expect(late.json["message"]).toContain("was replaced");

  for (const [receipt, key] of [
    [history.backups[0]?.receipts.backup, agent],
    [fromSpool.json["receipt_id"], agent],
    [fresh.json["receipt_id"], next],
  ] as const) {
    const bundle = await owner.get(`/api/receipts/${String(receipt)}/bundle`);
    expect(bundle.json["public_key"], String(receipt)).toBe(key.publicKeyWire);
  }

  // What the log tells is all that somebody needs to follow it.
  const listed = await owner.get(`/api/orgs/${org.id}/events?kind=agent_key_rotated`);
  const [event] = listed.json["items"] as { detail: Record<string, unknown>; actor: unknown }[];
  expect(event).toMatchObject({
    actor: { kind: "agent", id: agent.id },
    detail: {
      agent_id: agent.id,
      previous_key_fingerprint: fingerprint(agent),
      key_fingerprint: fingerprint(next),
    },
  });
  const { by_old, by_new } = event?.detail ?? {};
  const said = await verifyKeyRotation(keyRotationFromJson({ by_old, by_new }));
  expect(said).toMatchObject({ agentId: agent.id, rotatedAt: at });

  const keys = await owner.get(`/api/orgs/${org.id}/agents/${agent.id}/keys`);
  expect(keys.json["items"]).toMatchObject([
    { key_fingerprint: fingerprint(next), valid_from: at, valid_until: null, rotation: null },
    {
      key_fingerprint: fingerprint(agent),
      valid_until: at,
      rotation: { by_old: body.by_old, by_new: body.by_new },
    },
  ]);
});

test("the same rotation again is answered as the first time, and logged once", async () => {
  const body = signedRotation(agent, agent, newKeyPair());
  const [first, ...more] = await Promise.all([1, 2, 3].map(() => rotate(body)));
  for (const answer of [first, ...more, await rotate(body)]) {
    expect(answer?.status).toBe(200);
    expect(answer?.json).toEqual(first?.json);
  }
  const { rows } = await service.pool.query(
    "select 1 from events where kind = 'agent_key_rotated' and org_id = $1",
    [org.id],
  );
  expect(rows).toHaveLength(1);
});

test("of two rotations at once, one takes effect, and the other is refused because it replaces an earlier key", async () => {
  const answers = await Promise.all([1, 2].map(() => rotate(signedRotation(agent, agent, newKeyPair()))));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
});

test("keys follow one another; one that was replaced does not come back", async () => {
  const [second, third] = [newKeyPair(), newKeyPair()];
  const at = now.toISOString();
  expect((await rotate(signedRotation(agent, agent, second, at))).status).toBe(200);
  expect((await rotate(signedRotation(agent, second, third, after(at, 1)))).status).toBe(200);
  expect((await submit(agent, at)).status).toBe(201);
  expect((await submit(second, after(at, 1))).status).toBe(201);
  expect((await submit(second, after(at, 2))).status).toBe(422);
  expect((await submit(third, after(at, 2))).status).toBe(201);
  const back = await rotate(signedRotation(agent, third, agent, after(at, 3)));
  expect([back.status, back.json["error"]]).toEqual([409, "conflict"]);
});

test("a rotation not signed by both keys, of another agent, or dated in the future is refused and changes nothing", async () => {
  const [next, other] = [newKeyPair(), await service.attach(org)];
  const good = signedRotation(agent, agent, next);
  const foreign = signedRotation({ id: agent.id, orgId: other.id.replace("agent_", "org_") }, agent, next);
  for (const [body, status, error] of [
    [
      { ...good, by_old: signedRotation(agent, agent, next, after(now.toISOString(), -9)).by_old },
      422,
      "statement_invalid",
    ],
    [
      { ...good, by_new: { ...good.by_new, signatures: good.by_old.signatures } },
      422,
      "receipt_signature_invalid",
    ],
    [{ by_old: good.by_new, by_new: good.by_old }, 422, "receipt_signature_invalid"],
    [signedRotation(other, agent, next), 422, "statement_mismatch"],
    [foreign, 422, "statement_mismatch"],
    [signedRotation(agent, newKeyPair(), next), 409, "conflict"],
    [signedRotation(agent, agent, next, after(now.toISOString(), 600_000)), 422, "statement_mismatch"],
    [{ by_old: good.by_old }, 400, "invalid_request"],
  ] as const) {
    const answer = await rotate(body);
    expect([answer.status, answer.json["error"]], JSON.stringify(body)).toEqual([status, error]);
  }
  expect((await submit(agent, now.toISOString())).status).toBe(201);
  expect((await submit(next, now.toISOString())).status).toBe(422);
});

test("a replaced key counts for a month, as long as a receipt may wait", async () => {
  const at = now.toISOString();
  await rotate(signedRotation(agent, agent, newKeyPair(), at));
  const { rows } = await service.pool.query(
    "update agent_retired_keys set retired_at = retired_at - interval '31 days', replaced_at = replaced_at - interval '31 days' where agent_id = $1 returning replaced_at",
    [agent.id],
  );
  const { replaced_at } = rows[0] as { replaced_at: Date };
  const answer = await submit(agent, replaced_at.toISOString());
  expect([answer.status, answer.json["message"]]).toEqual([422, expect.stringContaining("too long ago")]);
});

test("another replica takes the new key at once, although it had looked up the old one", async () => {
  const replica = await service.listen();
  try {
    // It knows the old key from now on, for some seconds.
    expect((await submit(agent, now.toISOString(), { ...service, ...replica })).status).toBe(201);
    const next = newKeyPair();
    const at = now.toISOString();
    await rotate(signedRotation(agent, agent, next, at));
    expect((await submit(next, after(at, 5), { ...service, ...replica })).status).toBe(201);
    const late = await submit(agent, after(at, 6), { ...service, ...replica });
    expect([late.status, late.json["error"]]).toEqual([422, "receipt_signature_invalid"]);
    expect((await submit(agent, at, { ...service, ...replica })).status).toBe(201);
  } finally {
    await replica.close();
  }
});

test("the log's entry covers the whole rotation", async () => {
  await rotate(signedRotation(agent, agent, newKeyPair()));
  const { rows } = await service.pool.query<{ body: Buffer; leaf: Buffer }>(
    `select body, leaf from events join log_leaves using (org_id, log_index) where kind = 'agent_key_rotated' and org_id = $1`,
    [org.id],
  );
  const [{ body, leaf } = { body: Buffer.of(), leaf: Buffer.of() }] = rows;
  expect(canonicalJson(JSON.parse(body.toString()) as never)).toBe(body.toString());
  expect(leaf.toString()).toContain(createHash("sha256").update(body).digest("hex"));
});
