import {
  canonicalJson,
  equalBytes,
  fromUtf8,
  isTimestamp,
  isTypeId,
  pae,
  parseCheckpoint,
  parseEventStatement,
  parseJson,
  parseStatement,
  PAYLOAD_TYPE,
  PREDICATE_BACKUP,
  PREDICATE_EVENT,
  PREDICATE_KEY_ROTATION,
  PREDICATE_RESTORE_TEST,
  ProofError,
  utf8,
  type PublicKey,
} from "@attestore/proof";
import { rotationStatement } from "./rotation-statement.ts";

export type Purpose = "receipt" | "event" | "key rotation" | "cosignature";

export interface SignerKeys {
  readonly current: PublicKey;
  readonly next: PublicKey | null;
}

const PAE_START = `DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} `;
const COSIGNATURE = /^cosignature\/v1\ntime ([1-9][0-9]{0,11})\n/;
const CLOCK_S = 300;
const MAX_RECIPIENTS = 256;

/**
 * The kind of statement that these bytes are, if an agent would sign them; otherwise null. Only the
 * one canonical form of each counts, so no bytes are ever signed that mean something else to
 * somebody else. `by` is the signing key, one of `keys`.
 */
export function purposeOf(
  message: Uint8Array,
  by: PublicKey,
  keys: SignerKeys,
  now_s: number = Date.now() / 1000,
): Purpose | null {
  try {
    const payload = payloadOf(message);
    const isCurrent = equalBytes(by.bytes, keys.current.bytes);
    if (payload === null) return isCurrent && isCosignature(message, now_s) ? "cosignature" : null;
    const statement = parseJson(payload) as { predicateType?: unknown; predicate?: unknown };
    if (!equalBytes(utf8(canonicalJson(statement)), payload)) return null;
    const { predicateType } = statement;
    if (predicateType === PREDICATE_KEY_ROTATION)
      return isRotation(statement.predicate, payload, isCurrent, keys) ? "key rotation" : null;
    // The next key signs to prove that it is held here, and nothing else before it is in use.
    if (!isCurrent) return null;
    if (predicateType === PREDICATE_BACKUP || predicateType === PREDICATE_RESTORE_TEST)
      return parseStatement(payload).ok ? "receipt" : null;
    if (predicateType !== PREDICATE_EVENT) return null;
    parseEventStatement({ payloadType: PAYLOAD_TYPE, payload });
    return "event";
  } catch (error) {
    if (error instanceof ProofError || error instanceof TypeError) return null;
    throw error;
  }
}

/** For DSSE's pre-authentication encoding of an in-toto statement; null for any other bytes. */
function payloadOf(message: Uint8Array): Uint8Array | null {
  const start = utf8(PAE_START);
  if (!equalBytes(message.subarray(0, start.length), start)) return null;
  const space = message.indexOf(0x20, start.length);
  if (space === -1) return null;
  const payload = message.subarray(space + 1);
  return equalBytes(pae(PAYLOAD_TYPE, payload), message) ? payload : null;
}

/** For a C2SP tlog-cosignature of a checkpoint at the current time, neither earlier nor later. */
function isCosignature(message: Uint8Array, now_s: number): boolean {
  const text = fromUtf8(message);
  const [start = "", time = ""] = COSIGNATURE.exec(text) ?? [];
  if (start === "" || Math.abs(Number(time) - now_s) > CLOCK_S) return false;
  parseCheckpoint(text.slice(start.length));
  return true;
}

/** A new signing key must be held here: no statement about another one is signed. */
function isRotation(
  predicate: unknown,
  payload: Uint8Array,
  isCurrent: boolean,
  { current, next }: SignerKeys,
): boolean {
  if (typeof predicate !== "object" || predicate === null) return false;
  const { org_id, agent_id, rotated_at, key, before, after } = predicate as Record<string, unknown>;
  if (typeof org_id !== "string" || typeof agent_id !== "string" || typeof rotated_at !== "string")
    return false;
  if (!isTypeId(org_id, "org") || !isTypeId(agent_id, "agent") || !isTimestamp(rotated_at)) return false;
  const told = { orgId: org_id, agentId: agent_id, at: rotated_at };
  if (key === "encryption" && isCurrent && areRecipients(before) && areRecipients(after))
    return equalBytes(rotationStatement({ ...told, change: { key, before, after } }), payload);
  if (key !== "signing" || next === null) return false;
  return equalBytes(rotationStatement({ ...told, change: { key, before: current, after: next } }), payload);
}

function areRecipients(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length <= MAX_RECIPIENTS &&
    value.every((each) => typeof each === "string" && /^(?:age1|ssh-(?:ed25519|rsa) )/.test(each))
  );
}
