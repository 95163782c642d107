import { parsePublicKeyWire, parseVerifierKey, sshFingerprint } from "@attestore/proof";
import { expect, test } from "vitest";
import { makeHistory, testAgain } from "../../../packages/orchestrator/test/history.ts";
import {
  restoreTestStatement,
  signedEnvelope,
} from "../../../packages/orchestrator/test/log/signed-receipt.ts";
import { save } from "../harness/packs.ts";
import { idsOf, makeGoodPack } from "./good-pack.ts";

/**
 * The host and the service's operator together: they test another file, or another source's backup,
 * and call it by the backup's id. A service that compares takes no such receipt.
 */
const { organisation, file, verify } = await makeGoodPack();
const { service } = organisation;

async function packOf(change: "digest" | "source") {
  const org = await service.addOrg(`Another ${change}`);
  const owner = await service.signIn(org);
  const from = new Date().toISOString();
  const history = await makeHistory(service, org, { slug: "orders" });
  const { agent } = history;
  const other = await makeHistory(service, org, { slug: "users", agent });
  const [backup = expect.unreachable()] = history.backups;
  const sha256 = change === "digest" ? "ab".repeat(32) : backup.sha256;
  const sourceId = change === "source" ? other.sourceId : history.sourceId;
  await service.database
    .updateTable("backups")
    .set(change === "digest" ? { sha256: Buffer.from(sha256, "hex") } : { source_id: sourceId })
    .where("id", "=", backup.id)
    .execute();
  const receipt = await testAgain({ ...history, sourceId }, { ...backup, sha256 }, "passed");
  const path = file(`${change}.zip`);
  await save(path, (await owner.get(`/api/orgs/${org.id}/evidence?from=${from}`)).body);
  const outcome = await verify(path, parseVerifierKey(agent.log.verifier_key), [agent]);
  return { outcome, receipt, backup };
}

test.each(["digest", "source"] as const)("a test of one backup with another %s is false", async (change) => {
  const { outcome, receipt, backup } = await packOf(change);
  expect([outcome.verdict, idsOf(outcome, "failed")]).toEqual(["false", ["receipts"]]);
  expect(outcome.checks.find(({ id }) => id === "receipts")?.detail).toMatch(
    new RegExp(`^receipts/${receipt}.json: .*${backup.id} .*${backup.receipts.backup}`),
  );
});

test("a receipt that the log has twice is false, and counts once for nobody", async () => {
  const org = await service.addOrg("Twice");
  const owner = await service.signIn(org);
  const from = new Date().toISOString();
  const { agent, sourceId, backups } = await makeHistory(service, org);
  const [{ id, sha256 } = expect.unreachable()] = backups;
  const publicKey = parsePublicKeyWire(agent.publicKeyWire);
  const signer = { ...agent, publicKey: publicKey.bytes, keyFingerprint: sshFingerprint(publicKey) };
  const finished_at = new Date().toISOString();
  const made = restoreTestStatement(signer, { id, sha256, sourceId, sizeBytes: 64 }, { finished_at });
  const submit = async (): Promise<string> => {
    const more = { body: signedEnvelope(signer, made), headers: { "content-type": "application/json" } };
    return (await agent.post("/v1/receipts", undefined, more)).json["receipt_id"] as string;
  };
  const first = await submit();
  // A service that knows the envelope gives the first receipt again.
  expect(await submit()).toBe(first);
  await service.database
    .updateTable("receipts")
    .set({ envelope_sha256: Buffer.alloc(32, 1) })
    .where("id", "=", first)
    .execute();
  const again = await submit();
  expect(again).not.toBe(first);
  await save(file("twice.zip"), (await owner.get(`/api/orgs/${org.id}/evidence?from=${from}`)).body);
  const outcome = await verify(file("twice.zip"), parseVerifierKey(agent.log.verifier_key), [agent]);
  expect([outcome.verdict, idsOf(outcome, "failed")]).toEqual(["false", ["receipts"]]);
  expect(outcome.checks.find(({ id: check }) => check === "receipts")?.detail).toBe(
    `receipts/${again}.json: it is ${first} again`,
  );
});
