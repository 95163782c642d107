import type { EventActor, EventRecord } from "@attestore/contract";
import type { ListedEvent } from "./queries.ts";

/** An event as the contract's section 10 shows it. */
export function eventRecord(event: ListedEvent): EventRecord {
  const { source_id, backup_id, command_id } = event;
  const { detail } = JSON.parse(event.body.toString("utf8")) as { detail: Record<string, unknown> };
  return {
    id: event.id,
    created_at: event.created_at.toISOString(),
    org_id: event.org_id,
    kind: event.kind,
    ...(source_id === null ? {} : { source_id }),
    ...(backup_id === null ? {} : { backup_id }),
    ...(command_id === null ? {} : { command_id }),
    actor: actorOf(event.actor_id),
    occurred_at: event.occurred_at.toISOString(),
    detail,
    log_index: event.log_index,
    leaf_hash: event.leaf_hash.toString("hex"),
    ...(event.envelope === null
      ? {}
      : { envelope: JSON.parse(event.envelope.toString("utf8")) as NonNullable<EventRecord["envelope"]> }),
  };
}

const KINDS: Readonly<Record<string, EventActor["kind"]>> = {
  agent: "agent",
  user: "user",
  key: "auth_key",
  link: "auditor_link",
};

/** The prefix of an id tells its kind. */
function actorOf(id: string): EventActor {
  return { kind: KINDS[id.slice(0, id.indexOf("_"))] ?? "service", id };
}
