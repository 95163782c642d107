import { fromBase64 } from "../base64.ts";
import { equalBytes, isLongerThan } from "../bytes.ts";
import { envelopeFromJson, type Envelope, type EnvelopeJson } from "../dsse/envelope.ts";
import { verifyEnvelope } from "../dsse/verify.ts";
import { toHex } from "../hex.ts";
import { anyObject, listOf, matching, members, oneOf, requireKnownShape } from "../json/shape.ts";
import { isObject, parseJson } from "../json/strict-json.ts";
import { publicKeyFromSpki, publicKeyToSpki, type PublicKey } from "../keys/public-key.ts";
import { ProofError } from "../proof-error.ts";
import { PAYLOAD_TYPE, STATEMENT_TYPE } from "../receipts/statement.ts";
import { base64Text, sha256Hex, timestamp, typeId } from "../shapes.ts";
import { sha256 } from "#sha256";

export const PREDICATE_KEY_ROTATION = "https://attestore.dev/key-rotation/v1";

/**
 * A change of an agent's signing key: two DSSE envelopes over one in-toto statement, whose subject
 * is the new key.
 */
export interface KeyRotationJson {
  /** Signed by the old key, which vouches for the new one. */
  by_old: EnvelopeJson;
  /** Signed by the new key, which shows that the agent holds it. */
  by_new: EnvelopeJson;
}

/** The statement that both keys signed. */
export interface KeyRotation {
  orgId: string;
  agentId: string;
  /**
   * By the agent's clock: the old key signed everything before this time, and the new key
   * everything after it.
   */
  rotatedAt: string;
  before: PublicKey;
  after: PublicKey;
}

/** Largest file, or member of it, in bytes. */
export const MAX_KEY_ROTATION_SIZE = 32 * 1024;

const ROTATION = members({ by_old: anyObject, by_new: anyObject }, { v: oneOf(1) });

const OF_EITHER_KEY = members(
  { by_old: anyObject, by_new: matching((value) => value === null || isObject(value), "is not an object") },
  { v: oneOf(1) },
);

const OF_ENCRYPTION_KEY = members({
  predicateType: oneOf(PREDICATE_KEY_ROTATION),
  predicate: members({ key: oneOf("encryption") }),
});

const PREDICATE = members({
  org_id: typeId("org"),
  agent_id: typeId("agent"),
  rotated_at: timestamp,
  key: oneOf("signing"),
  before: base64Text,
  after: base64Text,
});

const STATEMENT = members({
  _type: oneOf(STATEMENT_TYPE),
  subject: listOf(
    members({
      name: oneOf("signing-key"),
      digest: members({ sha256: sha256Hex }),
    }),
    { min: 1, max: 1 },
  ),
  predicateType: oneOf(PREDICATE_KEY_ROTATION),
  predicate: PREDICATE,
});

/**
 * Parses a rotation's file, as `attestore keys rotate signing` writes it. Verifies nothing. Throws
 * ProofError.
 */
export function parseKeyRotation(source: Uint8Array | string): KeyRotationJson {
  if (isLongerThan(source, MAX_KEY_ROTATION_SIZE))
    throw malformed(`it is larger than ${MAX_KEY_ROTATION_SIZE} bytes`);
  return keyRotationFromJson(parseJson(source));
}

/**
 * Whether this is the rotation of a key that decrypts, which signs nothing and therefore leads to
 * no signing key. Throws `malformed_json`, `malformed_utf8`, `malformed_rotation`,
 * `malformed_envelope` or `unknown_version`.
 */
export function isEncryptionKeyRotation(source: Uint8Array | string): boolean {
  if (isLongerThan(source, MAX_KEY_ROTATION_SIZE))
    throw malformed(`it is larger than ${MAX_KEY_ROTATION_SIZE} bytes`);
  const value = parseJson(source);
  requireKnownShape(value, OF_EITHER_KEY, "malformed_rotation", "the rotation");
  const { by_old, by_new } = value as unknown as { by_old: EnvelopeJson; by_new: EnvelopeJson | null };
  if (by_new !== null) return false;
  const statement = parseJson(envelopeFromJson(by_old).payload);
  requireKnownShape(statement, OF_ENCRYPTION_KEY, "malformed_rotation", "the rotation's statement");
  return true;
}

/**
 * Parses a rotation from JSON that is already parsed. Ignores unknown members. Throws
 * `malformed_rotation`, `malformed_envelope` or `unknown_version`.
 */
export function keyRotationFromJson(value: unknown): KeyRotationJson {
  requireKnownShape(value, ROTATION, "malformed_rotation", "the rotation");
  const { by_old, by_new } = value as KeyRotationJson;
  for (const envelope of [by_old, by_new]) envelopeFromJson(envelope);
  return { by_old, by_new };
}

/**
 * Returns the contents of a rotation after verifying that both keys signed it. The rotation alone
 * makes neither key trusted, but anyone who trusts one may trust the other. Throws
 * `malformed_rotation`, `malformed_envelope`, `malformed_key`, `envelope_signature_invalid` or
 * `envelope_keyid_mismatch`.
 */
export async function verifyKeyRotation({ by_old, by_new }: KeyRotationJson): Promise<KeyRotation> {
  const [old, next] = [envelopeFromJson(by_old), envelopeFromJson(by_new)];
  for (const { payloadType } of [old, next])
    if (payloadType !== PAYLOAD_TYPE)
      throw malformed(`an envelope is of the type ${payloadType.slice(0, 100)}`);
  if (!equalBytes(old.payload, next.payload)) throw malformed("the two keys signed different statements");
  const rotation = readStatement(old);
  await verifyEnvelope(old, rotation.before);
  await verifyEnvelope(next, rotation.after);
  return rotation;
}

function readStatement({ payload }: Envelope): KeyRotation {
  const value = parseJson(payload);
  requireKnownShape(value, STATEMENT, "malformed_rotation", "the rotation's statement");
  const { subject, predicate } = value as unknown as {
    subject: [{ digest: { sha256: string } }];
    predicate: Record<"org_id" | "agent_id" | "rotated_at" | "before" | "after", string>;
  };
  const [before, after] = [publicKeyOf(predicate.before), publicKeyOf(predicate.after)];
  if (equalBytes(before.bytes, after.bytes)) throw malformed("the new key is the old one");
  if (subject[0].digest.sha256 !== toHex(sha256(publicKeyToSpki(after))))
    throw malformed("its subject is not the new key");
  const { org_id: orgId, agent_id: agentId, rotated_at: rotatedAt } = predicate;
  return { orgId, agentId, rotatedAt, before, after };
}

/** Base64 of SubjectPublicKeyInfo. */
function publicKeyOf(text: string): PublicKey {
  return publicKeyFromSpki(fromBase64(text));
}

function malformed(why: string): ProofError {
  return new ProofError("malformed_rotation", `the rotation is malformed: ${why}`);
}
