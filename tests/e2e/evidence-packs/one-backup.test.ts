import { parseVerifierKey } from "@attestore/proof";
import { expect, test } from "vitest";
import { makeHistory, testAgain } from "../../../packages/orchestrator/test/history.ts";
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
