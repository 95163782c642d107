import {
  parseEnvelope,
  parseStatement,
  PAYLOAD_TYPE,
  pae,
  ProofError,
  publicKeyFromBytes,
  verifySignature,
  type Envelope,
  type Issue,
  type PublicKey,
  type Statement,
} from "@attestore/proof";
import { ApiError, invalidRequest } from "../../platform/http/errors.ts";
import { invalidJson } from "../../platform/http/json-body.ts";
import type { AgentPrincipal } from "../../platform/http/principal.ts";

const keys = new WeakMap<AgentPrincipal, PublicKey>();

/**
 * The envelope of a submission and what the agent signed in it. The order is that of trust: the signature first, and only then is
 * the payload read, once, from the bytes that were verified. What the records say is checked later, in the batch.
 *
 * Throws ApiError `invalid_json`, `invalid_request`, `receipt_signature_invalid`, `statement_invalid`, `statement_mismatch`.
 */
export async function verifySubmission(
  body: Buffer,
  agent: AgentPrincipal,
): Promise<{ envelope: Envelope; statement: Statement }> {
  const envelope = readEnvelope(body);
  const message = pae(envelope.payloadType, envelope.payload);
  if (!(await verifySignature(keyOf(agent), message, envelope.signature)))
    throw new ApiError(
      "receipt_signature_invalid",
      `The envelope's signature does not verify under this agent's key (${agent.keyFingerprint}).`,
    );
  // The verifier takes the key's name as part of the receipt, so one that names another key would never be true.
  if (envelope.keyid !== agent.keyFingerprint)
    throw new ApiError(
      "statement_mismatch",
      `The envelope's keyid is not the fingerprint of this agent's key (${agent.keyFingerprint}).`,
    );
  const statement = readStatement(envelope);
  const { org_id, agent_id } = statement.predicate;
  if (org_id !== agent.orgId) throw mismatch("org_id", "another organisation than the agent's");
  if (agent_id !== agent.id) throw mismatch("agent_id", "another agent than the one that submits it");
  return { envelope, statement };
}

/** 422 `statement_mismatch` about one field of the predicate. */
export function mismatch(field: string, what: string): ApiError {
  return new ApiError("statement_mismatch", `The statement names ${what} (${field}).`, { field });
}

function readEnvelope(body: Buffer): Envelope {
  try {
    return parseEnvelope(body);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    if (error.code === "malformed_envelope") throw invalidRequest(`Not an envelope: ${error.message}.`, []);
    throw invalidJson(`The body is refused: ${error.message}.`);
  }
}

function readStatement(envelope: Envelope): Statement {
  if (envelope.payloadType !== PAYLOAD_TYPE)
    throw invalidStatement([{ path: "", message: `is not of the type ${PAYLOAD_TYPE}` }]);
  const parsed = parseStatement(envelope.payload);
  if (!parsed.ok) throw invalidStatement(parsed.issues);
  return parsed.statement;
}

function invalidStatement(issues: Issue[]): ApiError {
  return new ApiError(
    "statement_invalid",
    "The envelope's payload is not a statement that this service takes.",
    {
      issues,
    },
  );
}

/** Reading a key checks its point, which need not be done for each receipt. */
function keyOf(agent: AgentPrincipal): PublicKey {
  const known = keys.get(agent);
  if (known !== undefined) return known;
  const key = publicKeyFromBytes(new Uint8Array(agent.publicKey));
  keys.set(agent, key);
  return key;
}
