import type { AgentKeyRecord, RotateAgentKeyRequest } from "@attestore/contract";
import {
  equalBytes,
  keyRotationFromJson,
  ProofError,
  sshFingerprint,
  verifyKeyRotation,
  type EnvelopeJson,
  type KeyRotation,
  type PublicKey,
} from "@attestore/proof";
import { appendInTransaction } from "../../log/events/append-in-transaction.ts";
import { lockLogs } from "../../log/append/locked-log.ts";
import { transactionSession } from "../../platform/database/sql-session.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import type { AgentPrincipal } from "../../platform/http/route/principal.ts";
import { lastRunAfter } from "./latest-run.ts";
import { listRetiredKeys, serializeKeys, replaceSigningKey, type RetiredKey } from "./signing-keys.ts";
import { findAgent, type Agent } from "./store.ts";

/**
 * How far an agent's clock may be ahead. There is no limit to the past: a rotation waits on the
 * host with the receipts while the service can't be reached.
 */
const CLOCK_AHEAD_MS = 5 * 60_000;

/**
 * Reads a rotation and verifies both signatures. Throws `receipt_signature_invalid`,
 * `statement_invalid`, `statement_mismatch`. Whether the old key is the agent's current one is
 * checked later, in the transaction.
 */
export async function readRotation(
  request: RotateAgentKeyRequest,
  agent: AgentPrincipal,
  now: Date,
): Promise<KeyRotation> {
  const rotation = await verified(request);
  if (rotation.orgId !== agent.orgId) throw mismatch("org_id", "another organisation than the agent's");
  if (rotation.agentId !== agent.id) throw mismatch("agent_id", "another agent than the one that sends it");
  if (Date.parse(rotation.rotatedAt) > now.getTime() + CLOCK_AHEAD_MS)
    throw mismatch("rotated_at", "a moment that is still to come");
  return rotation;
}

async function verified(request: RotateAgentKeyRequest): Promise<KeyRotation> {
  try {
    return await verifyKeyRotation(keyRotationFromJson(request));
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    if (error.code === "envelope_signature_invalid")
      throw new ApiError(
        "receipt_signature_invalid",
        `One of the two signatures is not valid: ${error.message}.`,
      );
    if (error.code === "envelope_keyid_mismatch")
      throw new ApiError(
        "statement_mismatch",
        `One of the two envelopes is from another key: ${error.message}.`,
      );
    throw invalid(error.message);
  }
}

/**
 * Replaces the agent's signing key. The pipeline locks the agent's row, so two rotations run one
 * after the other. Writing the log entry takes the lock that orders submissions, so a receipt on
 * its way is checked against the key that is current at that point. A repeated rotation gets the
 * first answer again, because that answer may have been lost. Throws `conflict`.
 */
export async function rotateKey(
  tx: DatabaseTransaction,
  rotation: KeyRotation,
  request: RotateAgentKeyRequest,
  now: Date,
): Promise<AgentKeyRecord> {
  const agent = await findAgent(tx, rotation.agentId);
  if (agent === null) throw notFound("agent");
  const retired = await listRetiredKeys(tx, [agent.id]);
  if (isDone(agent, retired, request)) return inUse(agent, retired);
  if (!isKey(agent.public_key, rotation.before))
    throw new ApiError("conflict", "The rotation does not start from this agent's current key.", {
      key_fingerprint: agent.key_fingerprint,
    });
  const [before, after] = [sshFingerprint(rotation.before), sshFingerprint(rotation.after)];
  if (retired.some(({ key_fingerprint }) => key_fingerprint === after))
    throw new ApiError(
      "conflict",
      "This agent used the new key before, and a replaced key stays replaced. Make a new one.",
    );
  // Nothing else is recorded after this, so a receipt on its way is checked against the new key.
  await lockLogs(transactionSession(tx), new Set([agent.org_id]));
  const toCome = await lastRunAfter(tx, agent.id, new Date(rotation.rotatedAt));
  if (toCome !== null)
    throw new ApiError(
      "conflict",
      `This agent signed that a run ended at ${toCome.toISOString()}, after this rotation: its clock was ahead. If it were replaced now, its key would ` +
        "no longer be valid for that receipt. Rotate after that time, or revoke the agent and attach its host again.",
      { rotate_after: toCome.toISOString() },
    );
  const validFrom = retired.at(-1)?.replaced_at ?? agent.created_at;
  const old: RetiredKey = {
    org_id: agent.org_id,
    agent_id: agent.id,
    key_fingerprint: before,
    public_key: agent.public_key,
    valid_from: validFrom,
    replaced_at: new Date(rotation.rotatedAt),
    retired_at: now,
    rotation: request,
  };
  const next = { public_key: Buffer.from(rotation.after.bytes), key_fingerprint: after };
  await replaceSigningKey(tx, old, next);
  await appendInTransaction(tx, [
    {
      orgId: agent.org_id,
      kind: "agent_key_rotated",
      actorId: agent.id,
      detail: {
        agent_id: agent.id,
        name: agent.name,
        previous_key_fingerprint: before,
        key_fingerprint: after,
        rotated_at: rotation.rotatedAt,
        by_old: plain(request.by_old),
        by_new: plain(request.by_new),
      },
      occurredAt: now,
    },
  ]);
  return inUse({ ...agent, ...next }, [...retired, old]);
}

/** Whether this is the agent's newest rotation. */
function isDone(agent: Agent, retired: readonly RetiredKey[], request: RotateAgentKeyRequest): boolean {
  const last = retired.at(-1);
  return (
    last !== undefined &&
    last.rotation.by_new.payload === request.by_new.payload &&
    request.by_new.signatures[0]?.keyid === agent.key_fingerprint
  );
}

function inUse(agent: Agent, retired: readonly RetiredKey[]): AgentKeyRecord {
  const [first] = serializeKeys(agent, retired);
  if (first === undefined) throw new Error("an agent without a key");
  return first;
}

function isKey(bytes: Buffer, key: PublicKey): boolean {
  return equalBytes(new Uint8Array(bytes), key.bytes);
}

/** Leaves out what JSON would leave out. */
function plain({ payloadType, payload, signatures }: RotateAgentKeyRequest["by_old"]): EnvelopeJson {
  const [{ keyid = "", sig }] = signatures as [{ keyid?: string; sig: string }];
  return { payloadType, payload, signatures: [{ keyid, sig }] };
}

function mismatch(field: string, what: string): ApiError {
  return new ApiError("statement_mismatch", `The rotation names ${what} (${field}).`, { field });
}

function invalid(message: string): ApiError {
  return new ApiError("statement_invalid", "This is not a rotation of a signing key.", {
    issues: [{ path: "", message }],
  });
}
