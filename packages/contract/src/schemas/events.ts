import { Type, type Static } from "typebox";
import { EnvelopeRequest } from "./log.ts";
import { Count, Id, Sha256, strict, Timestamp } from "./scalars.ts";

/** Whose doing something was. */
export const EventActor = Type.Object(
  {
    kind: Type.Enum(["agent", "user", "auth_key", "auditor_link", "service"]),
    id: Type.String(),
  },
  strict,
);
export type EventActor = Static<typeof EventActor>;

/** The record of an event (contract, section 10). `detail` is what the log's leaf covers, word for word. */
export const EventRecord = Type.Object(
  {
    id: Id("event"),
    created_at: Timestamp,
    org_id: Id("org"),
    kind: Type.String(),
    source_id: Type.Optional(Id("source")),
    backup_id: Type.Optional(Id("backup")),
    command_id: Type.Optional(Id("command")),
    actor: EventActor,
    occurred_at: Timestamp,
    detail: Type.Record(Type.String(), Type.Unknown()),
    log_index: Count,
    leaf_hash: Sha256,
    /** What the agent signed about it. An event of an agent without one is the service's word. */
    envelope: Type.Optional(EnvelopeRequest),
  },
  strict,
);
export type EventRecord = Static<typeof EventRecord>;
