import type { DatabaseTransaction } from "../../../platform/database/schema.ts";
import { queueNotification } from "../../notification-queue/queue-notification.ts";
import type { LoggedEvent } from "./log-entries.ts";
import { noticeEndOf } from "./notice-ends.ts";
import { describeSubjects } from "./subjects.ts";
import { type Beginning, notifyBeginning, notifyEnds } from "./notify-incident.ts";
import { shortText } from "./short-text.ts";

/** The service's own reasons; nothing else of an event's detail leaves the service. */
const CAUSES = ["reason", "scheduled_at", "deadline_at", "runs", "last_seen_at"] as const;
/**
 * The part of an agent's event that leaves the service: its reason, if that is a code such as
 * `disk_full`. The message beside it comes from a database or a tool, and may quote rows.
 */
const CODE = /^[a-z][a-z0-9_]{0,63}$/;

/** Tells about an event of the log if its kind is one to tell. */
export async function notifyEvent(tx: DatabaseTransaction, orgId: string, event: LoggedEvent): Promise<void> {
  const { id, source_id: sourceId, occurred_at: at, detail } = event;
  const begin = (kind: Beginning["kind"], about: Beginning["about"]): Promise<void> =>
    notifyBeginning(tx, { id, orgId, kind, about, at, more: moreOf(event) });
  const ofSource = sourceId === null ? null : { sourceId };
  const agentId = typeof detail["agent_id"] === "string" ? detail["agent_id"] : null;
  switch (event.kind) {
    case "backup_failed":
      return ofSource === null ? undefined : begin(event.kind, ofSource);
    case "backup_missed":
    case "restore_test_missed":
      if (ofSource === null) return;
      await noticeEndOf(tx, ofSource, event.kind);
      return begin(event.kind, ofSource);
    case "restore_failed":
      return ofSource === null ? undefined : begin("restore_test_could_not_run", ofSource);
    case "attestation_failed":
      return event.actor_id.startsWith("agent_")
        ? begin("attestation_failed", { agentId: event.actor_id })
        : undefined;
    case "agent_silent":
      if (agentId === null) return;
      await noticeEndOf(tx, { agentId }, event.kind);
      return begin(event.kind, { agentId });
    case "retention_held":
      return ofSource === null ? undefined : notifyHeld(tx, orgId, event, ofSource.sourceId);
    case "agent_attached":
      return agentId === null ? undefined : notifyAttached(tx, orgId, event, agentId);
    case "agent_revoked":
      return agentId === null ? undefined : withdraw(tx, event, { agentId }, ["attestation_failed"]);
    case "source_removed":
      return ofSource === null
        ? undefined
        : withdraw(tx, event, ofSource, [
            "backup_failed",
            "restore_test_failed",
            "restore_test_could_not_run",
          ]);
  }
}

async function notifyAttached(
  tx: DatabaseTransaction,
  orgId: string,
  event: LoggedEvent,
  agentId: string,
): Promise<void> {
  const { key_fingerprint } = event.detail;
  await queueNotification(tx, {
    orgId,
    key: event.id,
    type: "agent.attached",
    occurredAt: event.occurred_at,
    data: {
      ...(await describeSubjects(tx, orgId, { agentId })),
      event_id: event.id,
      key_fingerprint: shortText(key_fingerprint),
      let_in_by: event.actor_id,
    },
  });
}

async function notifyHeld(
  tx: DatabaseTransaction,
  orgId: string,
  { id, occurred_at, detail }: LoggedEvent,
  sourceId: string,
): Promise<void> {
  await queueNotification(tx, {
    orgId,
    key: id,
    type: "retention.held",
    occurredAt: occurred_at,
    data: { ...(await describeSubjects(tx, orgId, { sourceId })), event_id: id, hold: detail },
  });
}

function withdraw(
  tx: DatabaseTransaction,
  { id, occurred_at: at }: LoggedEvent,
  about: Beginning["about"],
  kinds: readonly Beginning["kind"][],
): Promise<void> {
  return notifyEnds(tx, { about, kinds, at, resolution: "withdrawn", more: { event_id: id } });
}

function moreOf({ id, backup_id, actor_id, detail }: LoggedEvent): Record<string, unknown> {
  const cause = actor_id.startsWith("agent_") ? causeOfAgent(detail) : causeOfService(detail);
  return {
    event_id: id,
    ...(backup_id === null ? {} : { backup_id }),
    cause,
  };
}

function causeOfAgent({ reason }: LoggedEvent["detail"]): Record<string, unknown> {
  return { reason: typeof reason === "string" && CODE.test(reason) ? reason : "told_by_the_agent" };
}

function causeOfService(detail: LoggedEvent["detail"]): Record<string, unknown> {
  const cause: Record<string, unknown> = {};
  for (const name of CAUSES) {
    const value = detail[name];
    if (typeof value === "number") cause[name] = value;
    if (typeof value === "string") cause[name] = shortText(value);
  }
  return cause;
}
