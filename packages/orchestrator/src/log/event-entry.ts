import { canonicalJson, formatLeaf, sha256, toHex, utf8 } from "@attestore/proof";
import { newId } from "@attestore/contract";

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

export interface EventEntry extends NewEvent {
  id: string;
  /**
   * The JCS bytes that the leaf's body_sha256 covers: the event as `POST /v1/events` says it, so that whoever said it
   * recognises it. Whose it is, and its id, the leaf says.
   */
  body: Uint8Array;
  leaf: Uint8Array;
  recordedAt: Date;
}

/** Throws ProofError `not_canonicalizable` for a detail that JSON cannot say. */
export function eventEntry(event: NewEvent, recordedAt: Date): EventEntry {
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
    body_sha256: toHex(sha256(body)),
  });
  return { ...event, id, body, leaf, recordedAt };
}
