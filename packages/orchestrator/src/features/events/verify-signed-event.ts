import type { EnvelopeRequest, EventRequest } from "@attestore/contract";
import {
  canonicalJson,
  envelopeFromJson,
  eventOf,
  MAX_ENVELOPE_SIZE,
  parseEventStatement,
  ProofError,
  type Envelope,
  type EventPredicate,
} from "@attestore/proof";
import { signedEvent, type SignedEvent } from "../../log/events/event-entry.ts";
import { ApiError, invalidRequest } from "../../platform/errors/api-error.ts";
import type { AgentPrincipal } from "../../platform/http/route/principal.ts";
import { requireFromBefore } from "../receipts/replaced-key.ts";
import { type FindKey, mismatch, verifySigned } from "../receipts/verify-submission.ts";

/**
 * Verifies an event's envelope: the agent signed it, and it contains exactly the event that is
 * submitted beside it. As for a receipt, the signature comes first and the payload is read from the
 * verified bytes.
 * Throws ApiError `invalid_request`, `receipt_signature_invalid`, `statement_invalid`,
 * `statement_mismatch`.
 */
export async function verifySignedEvent(
  agent: AgentPrincipal,
  event: Omit<EventRequest, "envelope">,
  json: EnvelopeRequest,
  { findKey, isStale }: { findKey: FindKey; isStale: boolean },
): Promise<{ signed: SignedEvent; signedWith?: string }> {
  const envelope = readEnvelope(json);
  const { replacement } = await verifySigned(envelope, agent, { findKey, isStale });
  const predicate = readStatement(envelope);
  if (replacement !== null) requireFromBefore(predicate.occurred_at, replacement, new Date());
  if (predicate.org_id !== agent.orgId) throw mismatch("org_id", "another organisation than the agent's");
  if (predicate.agent_id !== agent.id)
    throw mismatch("agent_id", "another agent than the one that submits it");
  if (canonicalJson(eventOf(predicate)) !== canonicalJson(eventOf(event)))
    throw mismatch("envelope", "another event than the one that is submitted");
  const bytes = Buffer.from(JSON.stringify(json));
  const signed = signedEvent(envelope, bytes, predicate.previous_receipt_sha256);
  return replacement === null ? { signed, signedWith: envelope.keyid } : { signed };
}

function readEnvelope(json: EnvelopeRequest): Envelope {
  try {
    if (JSON.stringify(json).length > MAX_ENVELOPE_SIZE)
      throw new ProofError("malformed_envelope", `the envelope is larger than ${MAX_ENVELOPE_SIZE} bytes`);
    return envelopeFromJson(json);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    throw invalidRequest(`Not an envelope: ${error.message}.`, [
      { path: "/envelope", message: error.message },
    ]);
  }
}

function readStatement(envelope: Envelope): EventPredicate {
  try {
    return parseEventStatement(envelope);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    throw new ApiError("statement_invalid", "The envelope's payload is not an event's statement.", {
      issues: [{ path: "", message: error.message }],
    });
  }
}
