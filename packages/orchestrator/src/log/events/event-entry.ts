import { canonicalJson, formatLeaf, sha256, toBase64, toHex, utf8, type Envelope } from "@attestore/proof";
import { newId } from "@attestore/contract";
import { envelopeSha256 } from "../envelope-sha256.ts";

/** Something that happened and is not a receipt. */
export interface NewEvent {
  orgId: string;
  kind: string;
  sourceId?: string | undefined;
  backupId?: string | undefined;
  commandId?: string | undefined;
  /** The agent or user who did it; `service` for the service itself. */
  actorId: string;
  occurredAt: Date;
  /** Any JSON object, without secrets: everybody who may read the organisation's events sees it. */
  detail: Record<string, unknown>;
}

/** The agent's signature over its event. */
export interface SignedEvent {
  /** The envelope as JSON. */
  json: Buffer;
  /** Identifies the submission; see envelope-sha256.ts. */
  envelopeSha256: Buffer;
  payloadSha256: Buffer;
  previousSha256: string | null;
  signature: Uint8Array;
}

export interface EventEntry extends NewEvent {
  id: string;
  /**
   * The JCS bytes of the event as it came with `POST /v1/events`, so that its sender recognises it.
   * The leaf names the event's id and actor. The leaf's body_sha256 covers these bytes, or the
   * envelope's payload, which holds the same, if the agent signed one.
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

/** Throws ProofError `not_canonicalizable` for a detail that JSON cannot express. */
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
