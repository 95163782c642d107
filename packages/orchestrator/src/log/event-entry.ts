import { canonicalJson, formatLeaf, sha256, toBase64, toHex, utf8, type Envelope } from "@attestore/proof";
import { newId } from "@attestore/contract";
import { envelopeSha256 } from "./envelope-sha256.ts";

/** Something that happened and is no receipt. */
export interface NewEvent {
  orgId: string;
  kind: string;
  sourceId?: string | undefined;
  backupId?: string | undefined;
  commandId?: string | undefined;
  /** The agent or user whose doing it was; `service` for the service's own. */
  actorId: string;
  occurredAt: Date;
  /** Any JSON object. No secret: whoever may read the organisation's events sees it. */
  detail: Record<string, unknown>;
}

/** What an agent signed about its event. */
export interface SignedEvent {
  /** The JSON of the envelope. */
  json: Buffer;
  /** What makes two submissions the same one. */
  envelopeSha256: Buffer;
  payloadSha256: Buffer;
  previousSha256: string | null;
  signature: Uint8Array;
}

export interface EventEntry extends NewEvent {
  id: string;
  /**
   * The JCS bytes of the event as `POST /v1/events` says it, so that whoever said it recognises it. Whose it is, and its id, the leaf
   * says. The leaf's body_sha256 covers them, or the envelope's payload where the agent signed one, which holds the same.
   */
  body: Uint8Array;
  leaf: Uint8Array;
  recordedAt: Date;
  signed?: SignedEvent | undefined;
}

export function signedEvent(envelope: Envelope, json: Buffer, previousSha256: string | null): SignedEvent {
  const payloadSha256 = sha256(envelope.payload);
  return {
    json,
    envelopeSha256: envelopeSha256(payloadSha256, envelope),
    payloadSha256: Buffer.from(payloadSha256),
    previousSha256,
    signature: envelope.signature,
  };
}

/** Throws ProofError `not_canonicalizable` for a detail that JSON cannot say. */
export function eventEntry(event: NewEvent, recordedAt: Date, signed?: SignedEvent): EventEntry {
  const id = newId("event", recordedAt.getTime());
  const { orgId, kind, sourceId, backupId, commandId, actorId, occurredAt, detail } = event;
  const body = utf8(
    canonicalJson({
      kind,
      ...(sourceId === undefined ? {} : { source_id: sourceId }),
      ...(backupId === undefined ? {} : { backup_id: backupId }),
      ...(commandId === undefined ? {} : { command_id: commandId }),
      occurred_at: occurredAt.toISOString(),
      detail,
    }),
  );
  const leaf = formatLeaf({
    kind,
    org_id: orgId,
    id,
    actor_id: actorId,
    recorded_at: recordedAt.toISOString(),
    body_sha256: toHex(signed?.payloadSha256 ?? sha256(body)),
    ...(signed === undefined ? {} : { signature: toBase64(signed.signature) }),
  });
  return { ...event, id, body, leaf, recordedAt, signed };
}
