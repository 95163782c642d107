import { LogKeys, WitnessRecord } from "@attestore/contract";
import {
  cosignatureLine,
  cosignatureMessage,
  noteVerifier,
  openCheckpoint,
  parseBundle,
  parseNote,
  parsePublicKeyWire,
  parseTlogProof,
  parseVerifierKey,
  verifyReceipt,
  type ReceiptVerdict,
} from "@attestore/proof";
import { sign } from "node:crypto";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type History, makeHistory } from "../../../test/history.ts";
import {
  heartbeat,
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
let history: History;
let auditor: TestUser;
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
  history = await makeHistory(service, org, { backups: 2 });
  auditor = await service.signIn(org, "auditor");
});
afterAll(() => service.close());

const seconds = () => Math.floor(Date.now() / 1000);

/**
 * As an agent does: keeps the head that it is shown, and sends its cosignature with the next
 * heartbeat.
 */
async function witness(agent: TestAgent): Promise<bigint> {
  const shown = (await agent.post("/v1/heartbeat", heartbeat())).json["log_head"] as string;
  const { text, size } = await openCheckpoint(shown, parseVerifierKey(agent.log.verifier_key));
  const verifier = noteVerifier(agent.id, "cosignature/v1", parsePublicKeyWire(agent.publicKeyWire).bytes);
  const time = seconds();
  const signature = sign(null, cosignatureMessage(time, text), agent.privateKey);
  const cosignature = cosignatureLine(verifier, time, new Uint8Array(signature));
  const answer = await agent.post("/v1/heartbeat", heartbeat({ log_head: shown, cosignature }));
  expect(answer.status).toBe(200);
  return size;
}

async function witnesses(): Promise<WitnessRecord[]> {
  const answer = await auditor.get(`/api/orgs/${org.id}/log/witnesses`);
  expect(answer.status).toBe(200);
  const items = answer.json["items"] as WitnessRecord[];
  for (const item of items) expect([...Value.Errors(WitnessRecord, item)]).toEqual([]);
  return items;
}

const receiptId = () => history.backups[0]?.receipts.restore_test ?? "";

async function verified(
  by: TestAgent,
  requireWitnesses?: number,
): Promise<ReceiptVerdict & { size: number }> {
  const { body } = await auditor.get(`/api/receipts/${receiptId()}/bundle`);
  const bundle = parseBundle(body);
  const verdict = await verifyReceipt({
    bundle,
    publicKey: parsePublicKeyWire(history.agent.publicKeyWire),
    logKey: parseVerifierKey(history.agent.log.verifier_key),
    witnessKeys: [noteVerifier(by.id, "cosignature/v1", parsePublicKeyWire(by.publicKeyWire).bytes)],
    requireWitnesses,
  });
  return { ...verdict, size: bundle.inclusion_proof.tree_size };
}

test("the log's keys are those that agents were given, and sign its heads", async () => {
  const { status, json } = await auditor.get(`/api/orgs/${org.id}/log`);
  expect(status).toBe(200);
  expect([...Value.Errors(LogKeys, json)]).toEqual([]);
  expect(json).toMatchObject({
    log_id: history.agent.log.origin,
    verifier_key: history.agent.log.verifier_key,
    public_log: false,
  });
  expect(parseVerifierKey(json["time_verifier_key"] as string).algorithm).toBe("cosignature/v1");
  const head = (await auditor.get(`/api/orgs/${org.id}/log/head`)).json["checkpoint"] as string;
  await openCheckpoint(head, parseVerifierKey(json["verifier_key"] as string));
});

test("before any witness the list is empty, and a bundle's proof leads to the newest head", async () => {
  expect(await witnesses()).toEqual([]);
  const verdict = await verified(history.agent);
  expect(verdict.verdict).toBe("cannot_tell");
  const head = (await auditor.get(`/api/orgs/${org.id}/log/head`)).json;
  expect(verdict.size).toBe(head["tree_size"]);
});

test("a witness is listed with the head that it cosigned, and bundles lead to it although the log has grown since", async () => {
  const size = await witness(history.agent);
  // What comes later, no witness has seen yet.
  await history.agent.post("/v1/events", {
    kind: "backup_failed",
    occurred_at: new Date().toISOString(),
    detail: {},
  });
  const [item, ...others] = await witnesses();
  expect(others).toEqual([]);
  expect(item).toMatchObject({ agent_id: history.agent.id, name: "host-1", tree_size: Number(size) });
  const key = parseVerifierKey(item?.verifier_key ?? "");
  const opened = await openCheckpoint(
    item?.checkpoint ?? "",
    parseVerifierKey(history.agent.log.verifier_key),
    [key],
  );
  expect(opened.size).toBe(size);
  expect(opened.cosignatures.map(({ verifier }) => verifier.name)).toEqual([history.agent.id]);
  const verdict = await verified(history.agent);
  expect(verdict.checks.filter(({ result }) => result !== "held").map(({ id }) => id)).toEqual([
    "ciphertext",
  ]);
  expect(verdict).toMatchObject({ verdict: "true", size: Number(size) });
});

test("a receipt newer than what witnesses saw has its proof in the newest head, without cosignatures", async () => {
  const later = await makeHistory(service, org, { slug: "later", agent: await service.attach(org) });
  const { body } = await auditor.get(`/api/receipts/${later.backups[0]?.receipts.backup ?? ""}/bundle`);
  const bundle = parseBundle(body);
  const head = (await auditor.get(`/api/orgs/${org.id}/log/head`)).json;
  expect(bundle.inclusion_proof.tree_size).toBe(head["tree_size"]);
  expect(parseNote(bundle.checkpoint).signatures.map(({ name }) => name)).toEqual([bundle.log.origin]);
});

test("several witnesses of one head are all in the bundle and in its tlog-proof; a revoked one is in neither", async () => {
  const second = await service.attach(org);
  await witness(second);
  await witness(history.agent);
  const names = async (): Promise<string[]> => {
    const { body } = await auditor.get(`/api/receipts/${receiptId()}/bundle?format=tlog-proof`);
    const { signatures } = parseNote(parseTlogProof(body.toString()).checkpoint);
    return signatures.map(({ name }) => name).filter((name) => name.startsWith("agent_"));
  };
  expect((await names()).toSorted()).toEqual([history.agent.id, second.id].toSorted());
  expect((await verified(second)).verdict).toBe("true");
  const owner = await service.signIn(org);
  expect((await owner.post(`/api/orgs/${org.id}/agents/${second.id}/revoke`)).status).toBe(200);
  expect(await names()).toEqual([history.agent.id]);
  expect((await witnesses()).map(({ agent_id }) => agent_id)).toEqual([history.agent.id]);
});

test("no other organisation sees the witnesses", async () => {
  const stranger = await service.signIn(await service.addOrg());
  const operator = await service.signIn(null);
  for (const path of ["log", "log/witnesses"]) {
    expect((await stranger.get(`/api/orgs/${org.id}/${path}`)).status).toBe(404);
    expect((await operator.get(`/api/orgs/${org.id}/${path}`)).status).toBe(403);
    expect((await service.call({ method: "GET", path: `/api/orgs/${org.id}/${path}` })).status).toBe(401);
  }
  expect((await auditor.get(`/api/orgs/${org.id}/log/witnesses?colour=red`)).status).toBe(400);
});
