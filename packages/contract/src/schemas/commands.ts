import { Type, type Static } from "typebox";
import { CommandKind } from "./heartbeat.ts";
import { Count, Id, strict, Timestamp } from "./scalars.ts";

export const CommandStatus = Type.Union([
  Type.Literal("queued"),
  Type.Literal("delivered"),
  Type.Literal("acked"),
]);
export type CommandStatus = Static<typeof CommandStatus>;

/**
 * The record of a command (contract, section 10). `issued_by` is a user's id, `schedule` or
 * `console`. `outcome` is the result so far. After `ended_at` the command is no longer delivered,
 * because its source moved to another agent or was removed (it then names the event of the
 * removal).
 */
export const CommandRecord = Type.Object(
  {
    id: Id("command"),
    created_at: Timestamp,
    org_id: Id("org"),
    kind: CommandKind,
    source_id: Id("source"),
    agent_id: Id("agent"),
    status: CommandStatus,
    params: Type.Object({ backup_id: Type.Optional(Id("backup")) }, strict),
    attempts: Count,
    issued_by: Type.String(),
    delivered_at: Type.Union([Timestamp, Type.Null()]),
    acked_at: Type.Union([Timestamp, Type.Null()]),
    ended_at: Type.Union([Timestamp, Type.Null()]),
    outcome: Type.Object(
      {
        backup_id: Type.Optional(Id("backup")),
        receipt_id: Type.Optional(Id("receipt")),
        event_id: Type.Optional(Id("event")),
      },
      strict,
    ),
  },
  strict,
);
export type CommandRecord = Static<typeof CommandRecord>;
