import { Type, type Static } from "typebox";
import { EnvelopeRequest } from "./envelope.ts";
import { inclusionFields } from "./log.ts";
import { Count, Id, Sha256, strict, Timestamp } from "./scalars.ts";

/** The kinds of event that an agent may report. */
export const AgentEventKind = Type.Enum([
  "backup_failed",
  "restore_failed",
  "attestation_failed",
  "change_accepted",
  "draw_declared",
  "config_changed",
]);
export type AgentEventKind = Static<typeof AgentEventKind>;

/** Body of `POST /v1/events`. `envelope` is the agent's signed statement with the same fields. */
export const EventRequest = Type.Object(
  {
    kind: AgentEventKind,
    source_id: Type.Optional(Id("source")),
    backup_id: Type.Optional(Id("backup")),
    command_id: Type.Optional(Id("command")),
    occurred_at: Timestamp,
    detail: Type.Record(Type.String(), Type.Unknown()),
    envelope: Type.Optional(EnvelopeRequest),
  },
  strict,
);
export type EventRequest = Static<typeof EventRequest>;

/** 201 of `POST /v1/events`. */
export const EventAccepted = Type.Object({ event_id: Id("event"), ...inclusionFields }, strict);
export type EventAccepted = Static<typeof EventAccepted>;

/** Who did something. */
export const EventActor = Type.Object(
  {
    kind: Type.Enum(["agent", "user", "auth_key", "auditor_link", "service"]),
    id: Type.String(),
  },
  strict,
);
export type EventActor = Static<typeof EventActor>;

/** The record of an event (contract, section 10). The log's leaf covers `detail` byte for byte. */
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
    /** What the agent signed about it. Without it, an agent's event is only the service's word. */
    envelope: Type.Optional(EnvelopeRequest),
  },
  strict,
);
export type EventRecord = Static<typeof EventRecord>;
