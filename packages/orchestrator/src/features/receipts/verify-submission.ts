import type { EnvelopeRequest } from "@attestore/contract";
import {
  envelopeFromJson,
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
import { ApiError, invalidRequest } from "../../platform/errors/api-error.ts";
import type { AgentPrincipal } from "../../platform/http/route/principal.ts";
import type { SigningKeyRow } from "../agents/signing-keys.ts";
import { requireFromBefore } from "./replaced-key.ts";

export interface VerifiedSubmission {
  envelope: Envelope;
  statement: Statement;
  /** Signed with a key before it was replaced. */
  isByRetiredKey: boolean;
}

/** A key of an agent by its fingerprint; null if the agent never had it. */
export type FindKey = (agentId: string, fingerprint: string) => Promise<SigningKeyRow | null>;

export interface VerifyOptions {
  findKey?: FindKey;
  /** The credential was looked up before the agent's key was replaced. */
  isStale?: boolean;
  now?: Date;
}

const keys = new WeakMap<AgentPrincipal, PublicKey>();

/**
 * Verifies a submission's envelope and reads what the agent signed. The order is that of trust: the
 * signature comes first, and only then is the payload read, once, from the verified bytes. The
 * records are compared later, in the batch.
 * `findKey` looks up a key other than the one the credential came with: an earlier one, or one too
 * new for that look-up.
 * Throws ApiError `invalid_request`, `receipt_signature_invalid`, `statement_invalid`,
 * `statement_mismatch`.
 */
export async function verifySubmission(
  body: EnvelopeRequest,
  agent: AgentPrincipal,
  { findKey = () => Promise.resolve(null), isStale = false, now = new Date() }: VerifyOptions = {},
): Promise<VerifiedSubmission> {
  const envelope = readEnvelope(body);
  const { replacement } = await verifySigned(envelope, agent, { findKey, isStale });
  const statement = readStatement(envelope);
  if (replacement !== null) requireFromBefore(statement.predicate.finished_at, replacement, now);
  const { org_id, agent_id } = statement.predicate;
  if (org_id !== agent.orgId) throw mismatch("org_id", "another organisation than the agent's");
  if (agent_id !== agent.id) throw mismatch("agent_id", "another agent than the one that submits it");
  return { envelope, statement, isByRetiredKey: replacement !== null };
}

/**
 * Checks that one of the agent's keys signed it, and returns what replaced that key, if anything:
 * what it signed must then be from before. Throws ApiError `receipt_signature_invalid`,
 * `statement_mismatch`.
 */
export async function verifySigned(
  envelope: Envelope,
  agent: AgentPrincipal,
  { findKey, isStale }: { findKey: FindKey; isStale: boolean },
): Promise<Pick<SigningKeyRow, "replacement">> {
  const isKnown = !isStale && envelope.keyid === agent.keyFingerprint;
  const other = isKnown ? null : await findKey(agent.id, envelope.keyid);
  const key = other === null ? keyOf(agent) : publicKeyFromBytes(new Uint8Array(other.public_key));
  const message = pae(envelope.payloadType, envelope.payload);
  if (!(await verifySignature(key, message, envelope.signature)))
    throw new ApiError(
      "receipt_signature_invalid",
      `The envelope's signature is not valid for this agent's key (${other?.key_fingerprint ?? agent.keyFingerprint}).`,
    );
  // The verifier treats the key's name as part of the receipt, so a receipt that names another key
  // could never be true.
  if (other === null && envelope.keyid !== agent.keyFingerprint)
    throw new ApiError(
      "statement_mismatch",
      `The envelope's keyid is not the fingerprint of this agent's key (${agent.keyFingerprint}).`,
      { field: "keyid" },
    );
  return { replacement: other?.replacement ?? null };
}

/** 422 `statement_mismatch` about one field of the predicate. */
export function mismatch(field: string, what: string): ApiError {
  return new ApiError("statement_mismatch", `The statement names ${what} (${field}).`, { field });
}

function readEnvelope(body: EnvelopeRequest): Envelope {
  try {
    return envelopeFromJson(body);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    throw invalidRequest(`Not an envelope: ${error.message}.`, [{ path: "", message: error.message }]);
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
    "The envelope's payload is not a statement that this service accepts.",
    {
      issues,
    },
  );
}

/** Reading a key checks its point, which is not needed for every receipt. */
function keyOf(agent: AgentPrincipal): PublicKey {
  const known = keys.get(agent);
  if (known !== undefined) return known;
  const key = publicKeyFromBytes(new Uint8Array(agent.publicKey));
  keys.set(agent, key);
  return key;
}
