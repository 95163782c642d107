import { sign, type KeyObject } from "node:crypto";
import {
  envelopeToJson,
  formatEventStatement,
  pae,
  PAYLOAD_TYPE,
  sha256,
  sshFingerprint,
  parsePublicKeyWire,
  toHex,
  type EnvelopeJson,
  type EventPredicate,
  type LoggedEvent,
} from "@attestore/proof";

export interface EventSigner {
  id: string;
  orgId: string;
  privateKey: KeyObject;
  publicKeyWire: string;
}

/**
 * The body of an event that the agent signed, and the SHA-256 of what it signed, for the next in
 * its chain.
 */
export function signedEventBody(
  agent: EventSigner,
  event: LoggedEvent,
  more: Partial<EventPredicate> = {},
): { body: LoggedEvent & { envelope: EnvelopeJson }; sha256: string } {
  const payload = formatEventStatement({
    ...event,
    org_id: agent.orgId,
    agent_id: agent.id,
    agent_version: "0.1.0",
    previous_receipt_sha256: null,
    ...more,
  });
  const envelope = envelopeToJson({
    payloadType: PAYLOAD_TYPE,
    payload,
    keyid: sshFingerprint(parsePublicKeyWire(agent.publicKeyWire)),
    signature: sign(null, pae(PAYLOAD_TYPE, payload), agent.privateKey),
  });
  return { body: { ...event, envelope }, sha256: toHex(sha256(payload)) };
}
