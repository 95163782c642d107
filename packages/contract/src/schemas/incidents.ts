import { Type, type Static } from "typebox";
import { Id, OrNull, Timestamp, strict } from "./scalars.ts";

export const IncidentKind = Type.Union([
  Type.Literal("backup_missed"),
  Type.Literal("restore_test_missed"),
  Type.Literal("agent_silent"),
]);
export type IncidentKind = Static<typeof IncidentKind>;

/**
 * Something that is overdue, from its due time until it happens. `id` is the id of the log event
 * that reports it. `source_id` is null for `agent_silent`, and `agent_id` is null for the others.
 */
export const IncidentRecord = Type.Object(
  {
    id: Id("event"),
    org_id: Id("org"),
    kind: IncidentKind,
    source_id: OrNull(Id("source")),
    agent_id: OrNull(Id("agent")),
    began_at: Timestamp,
    ended_at: OrNull(Timestamp),
  },
  strict,
);
export type IncidentRecord = Static<typeof IncidentRecord>;
