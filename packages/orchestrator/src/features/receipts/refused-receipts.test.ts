/** Receipts that the service refuses, and what it says is wrong with them. */
import type { EnvelopeRequest } from "@attestore/contract";
import { formatStatement, type Statement } from "@attestore/proof";
import { expect, test } from "vitest";
import type { TestAgent, TestBackup } from "../../../test/log/log-world.ts";
import { agent, backup, submit, tester, useReceiptsWorld, world } from "../../../test/log/receipts-world.ts";
import {
  backupStatement,
  envelopeOf,
  restoreTestStatement,
  signedEnvelope,
} from "../../../test/log/signed-receipt.ts";
import { principalOf } from "../../../test/log/submit.ts";
import type { ApiError } from "../../platform/errors/api-error.ts";
import { verifySubmission } from "./verify-submission.ts";

useReceiptsWorld();

const refusals: readonly [string, string, () => Promise<[TestAgent, Statement]>][] = [
  [
    "a backup that is not there",
    "backup_unknown",
    async () => [agent, changed({ id: "bkp_2x4y6z8a0b1c2d3e4f5g6h7j8k" })],
  ],
  [
    "another organisation's backup",
    "backup_unknown",
    async () => {
      const stranger = await world.addAgent(await world.addOrg());
      return [stranger, restoreTestStatement(stranger, backup)];
    },
  ],
  [
    "another source",
    "statement_mismatch",
    async () => [agent, changed({ sourceId: (await world.addBackup(agent)).sourceId })],
  ],
  ["another digest", "statement_mismatch", async () => [agent, changed({ sha256: "00".repeat(32) })]],
  [
    "another size",
    "statement_mismatch",
    async () => [agent, backupStatement(agent, backup, { size_bytes: backup.sizeBytes + 1 })],
  ],
  [
    "a backup that another agent made",
    "statement_mismatch",
    async () => [tester, backupStatement(tester, backup)],
  ],
  [
    "a test by an agent that is neither of the source's",
    "statement_mismatch",
    async () => {
      const third = await world.addAgent(agent.orgId);
      return [third, restoreTestStatement(third, backup)];
    },
  ],
  [
    "another organisation",
    "statement_mismatch",
    async () => [agent, restoreTestStatement({ ...agent, orgId: await world.addOrg() }, backup)],
  ],
  ["another agent", "statement_mismatch", async () => [agent, restoreTestStatement(tester, backup)]],
];

const changed = (more: Partial<TestBackup>): Statement => restoreTestStatement(agent, { ...backup, ...more });

test.each(refusals)("the service refuses %s, and logs nothing", async (_what, code, make) => {
  const [by, statement] = await make();
  await expect(submit(by, statement)).rejects.toMatchObject({ code });
  const { rows } = await world.pool.query("select 1 from log_leaves where org_id = $1", [by.orgId]);
  expect(rows).toEqual([]);
});

const envelopes: readonly [string, string, () => Buffer][] = [
  [
    "what another key signed",
    "receipt_signature_invalid",
    () => signedEnvelope({ ...agent, privateKey: tester.privateKey }, restoreTestStatement(agent, backup)),
  ],
  [
    "a keyid of another key",
    "statement_mismatch",
    () =>
      signedEnvelope(
        { ...agent, keyFingerprint: tester.keyFingerprint },
        restoreTestStatement(agent, backup),
      ),
  ],
  [
    "no keyid",
    "statement_mismatch",
    () => signedEnvelope({ ...agent, keyFingerprint: "" }, restoreTestStatement(agent, backup)),
  ],
  ["a payload that is no statement", "statement_invalid", () => envelopeOf(agent, Buffer.from("{}"))],
  ["a payload that is no JSON", "statement_invalid", () => envelopeOf(agent, Buffer.from("hello"))],
  [
    "another payload type",
    "statement_invalid",
    () => envelopeOf(agent, formatStatement(restoreTestStatement(agent, backup)), "text/plain"),
  ],
  ["no envelope", "invalid_request", () => Buffer.from("{}")],
];

const requestOf = (body: Buffer): EnvelopeRequest => JSON.parse(body.toString()) as EnvelopeRequest;

test.each(envelopes)("the service refuses %s before anything is looked up", async (_what, code, make) => {
  await expect(verifySubmission(requestOf(make()), principalOf(agent))).rejects.toMatchObject({ code });
});

test.each([
  ["no member", {}, "/payload"],
  ["a payload that is no base64", { payload: "§" }, "/payload"],
  ["no signature", { signatures: [] }, "/signatures"],
])("a refusal names the fault of an envelope with %s, and its place", async (_what, more, place) => {
  const good = requestOf(signedEnvelope(agent, restoreTestStatement(agent, backup)));
  const body = Object.keys(more).length === 0 ? {} : { ...good, ...more };
  const error = await verifySubmission(body as EnvelopeRequest, principalOf(agent)).catch(
    (thrown: unknown) => thrown as ApiError,
  );
  const message = expect.stringContaining(place) as string;
  expect(error).toMatchObject({
    code: "invalid_request",
    details: { issues: [{ path: "", message }] },
  });
});

test("a keyid of another key is a mismatch of that field", async () => {
  const body = signedEnvelope(
    { ...agent, keyFingerprint: tester.keyFingerprint },
    restoreTestStatement(agent, backup),
  );
  await expect(verifySubmission(requestOf(body), principalOf(agent))).rejects.toMatchObject({
    code: "statement_mismatch",
    details: { field: "keyid" },
  });
});

test("a refusal names the fault of a statement, and its place", async () => {
  const payload = Buffer.from(
    JSON.stringify({ ...restoreTestStatement(agent, backup, { checks: [] }), extra: 1 }),
  );
  const error = await verifySubmission(requestOf(envelopeOf(agent, payload)), principalOf(agent)).catch(
    (thrown: unknown) => thrown as ApiError,
  );
  expect(error).toMatchObject({ code: "statement_invalid", details: { issues: [{ path: "/extra" }] } });
});
