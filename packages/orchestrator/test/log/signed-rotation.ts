import { createHash, sign, type KeyObject } from "node:crypto";
import {
  canonicalJson,
  envelopeToJson,
  pae,
  parsePublicKeyWire,
  PAYLOAD_TYPE,
  PREDICATE_KEY_ROTATION,
  publicKeyToSpki,
  sshFingerprint,
  STATEMENT_TYPE,
  utf8,
  type EnvelopeJson,
} from "@attestore/proof";

export interface KeyPair {
  privateKey: KeyObject;
  publicKeyWire: string;
}

/** The body of `POST /v1/agent/key`, as an agent makes it. */
export function signedRotation(
  agent: { id: string; orgId: string },
  old: KeyPair,
  next: KeyPair,
  at = new Date().toISOString(),
  more: Record<string, unknown> = {},
): { by_old: EnvelopeJson; by_new: EnvelopeJson } {
  const spki = ({ publicKeyWire }: KeyPair): Buffer =>
    Buffer.from(publicKeyToSpki(parsePublicKeyWire(publicKeyWire)));
  const statement = {
    _type: STATEMENT_TYPE,
    subject: [
      { name: "signing-key", digest: { sha256: createHash("sha256").update(spki(next)).digest("hex") } },
    ],
    predicateType: PREDICATE_KEY_ROTATION,
    predicate: {
      org_id: agent.orgId,
      agent_id: agent.id,
      rotated_at: at,
      key: "signing",
      before: spki(old).toString("base64"),
      after: spki(next).toString("base64"),
      ...more,
    },
  };
  const payload = utf8(canonicalJson(statement));
  const by = ({ privateKey, publicKeyWire }: KeyPair): EnvelopeJson =>
    envelopeToJson({
      payloadType: PAYLOAD_TYPE,
      payload,
      keyid: sshFingerprint(parsePublicKeyWire(publicKeyWire)),
      signature: sign(null, pae(PAYLOAD_TYPE, payload), privateKey),
    });
  return { by_old: by(old), by_new: by(next) };
}
