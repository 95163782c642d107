import type { EnvelopeRequest } from "@attestore/contract";
import type { WireAnswer } from "../../src/platform/http/route/answer.ts";
import { receiptEntry } from "../../src/features/receipts/receipt-entry.ts";
import { receipts } from "../../src/features/receipts/receipt-batch.ts";
import { verifySubmission } from "../../src/features/receipts/verify-submission.ts";
import type { AgentPrincipal } from "../../src/platform/http/route/principal.ts";
import type { SubmissionRecord } from "../../src/platform/http/route/route.ts";
import type { Inclusion } from "../../src/log/heads/inclusion.ts";
import type { Submitted } from "../../src/log/sequencer/sequencer.ts";
import type { Replica, TestAgent } from "./log-world.ts";
import { plainEntries, plainEntry, submissionRecord } from "./plain-entry.ts";

export function principalOf(agent: TestAgent): AgentPrincipal {
  return {
    kind: "agent",
    id: agent.id,
    orgId: agent.orgId,
    name: "agent",
    publicKey: Buffer.from(agent.publicKey),
    keyFingerprint: agent.keyFingerprint,
    credential: Buffer.from(agent.token),
  };
}

/** What the route does with a receipt's body. */
export async function submitReceipt(
  { sequencer }: Replica,
  agent: TestAgent,
  body: Buffer,
  record: SubmissionRecord = submissionRecord(agent),
): Promise<Submitted<WireAnswer>> {
  const verified = await verifySubmission(JSON.parse(body.toString()) as EnvelopeRequest, principalOf(agent));
  const entry = receiptEntry({ orgId: agent.orgId, agentId: agent.id, body, ...verified });
  return sequencer.submit(receipts, entry, record, body.length);
}

/** An entry that is nothing but its leaf. */
export async function submitPlain(
  { sequencer }: Replica,
  agent: TestAgent,
  record: SubmissionRecord = submissionRecord(agent),
): Promise<Inclusion> {
  return placed(await sequencer.submit(plainEntries, plainEntry(agent), record, 0));
}

export function placed(submitted: Submitted<unknown>): Inclusion {
  if (submitted.is !== "placed") throw new Error(`not placed, but ${submitted.is}`);
  return submitted.inclusion;
}
