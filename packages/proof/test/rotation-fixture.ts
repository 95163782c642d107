import {
  canonicalJson,
  envelopeToJson,
  type KeyRotationJson,
  PAYLOAD_TYPE,
  PREDICATE_KEY_ROTATION,
  publicKeyToSpki,
  sha256,
  signEnvelope,
  sshFingerprint,
  STATEMENT_TYPE,
  toBase64,
  toHex,
  utf8,
} from "../src/index.ts";
import { ids } from "./receipt-fixture.ts";
import type { TestKey } from "./signing-keys.ts";

const spki = ({ publicKey }: TestKey): string => toBase64(publicKeyToSpki(publicKey));

/** What both keys sign when one takes the other's place. */
export function rotationStatement(before: TestKey, after: TestKey, at: string): Record<string, unknown> {
  return {
    _type: STATEMENT_TYPE,
    subject: [{ name: "signing-key", digest: { sha256: toHex(sha256(publicKeyToSpki(after.publicKey))) } }],
    predicateType: PREDICATE_KEY_ROTATION,
    predicate: {
      org_id: ids.org,
      agent_id: ids.agent,
      rotated_at: at,
      key: "signing",
      before: spki(before),
      after: spki(after),
    },
  };
}

export async function signedByBoth(
  statement: unknown,
  old: TestKey,
  next: TestKey,
  payloadType = PAYLOAD_TYPE,
): Promise<KeyRotationJson> {
  const payload = utf8(canonicalJson(statement));
  const by = async ({ publicKey, sign }: TestKey) =>
    envelopeToJson(await signEnvelope({ payloadType, payload, keyid: sshFingerprint(publicKey), sign }));
  return { by_old: await by(old), by_new: await by(next) };
}

export const keyRotation = (before: TestKey, after: TestKey, at: string): Promise<KeyRotationJson> =>
  signedByBoth(rotationStatement(before, after, at), before, after);
