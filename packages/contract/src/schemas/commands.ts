import { Type, type Static } from "typebox";
import { CommandKind } from "./heartbeat.ts";
import { ReceiptResult } from "./receipts.ts";
import { Count, Id, strict, Timestamp } from "./scalars.ts";

export const CommandStatus = Type.Union([
  Type.Literal("queued"),
  Type.Literal("delivered"),
  Type.Literal("acked"),
]);
export type CommandStatus = Static<typeof CommandStatus>;

/**
 * `dump`, `upload`, `download`, `decrypt`, `restore`, `checks`; later versions may have others.
 */
const Phase = Type.String({ pattern: "^[a-z][a-z_]{0,31}$", examples: ["restore"] });

/** How many ended phases a report has at most: the newest. */
export const MAX_ENDED_PHASES = 12;

/**
 * A phase that has ended. Names and numbers only: a line that a database's program prints may hold
 * a password or a row.
 */
const EndedPhase = Type.Object(
  { phase: Phase, bytes: Count, checks: Type.Optional(Count), took_ms: Count },
  strict,
);

const progress = {
  phase: Phase,
  bytes: Count,
  /** How many checks have run, in the phase `checks`. */
  checks: Type.Optional(Count),
  /** If known. */
  total_bytes: Type.Optional(Count),
  /** Since the phase began. */
  phase_ms: Count,
  /** Oldest first. */
  ended: Type.Optional(Type.Array(EndedPhase, { maxItems: MAX_ENDED_PHASES })),
};

/** Body of `POST /v1/commands/{id}/progress`: how far the agent is. */
export const ProgressReport = Type.Object(progress, strict);
export type ProgressReport = Static<typeof ProgressReport>;

/** 200 of it: the next report is wanted after this time. */
export const ProgressAccepted = Type.Object({ next_s: Type.Integer({ minimum: 1 }) }, strict);
export type ProgressAccepted = Static<typeof ProgressAccepted>;

/** How far an agent was at a time, by the service's clock. */
export const CommandProgress = Type.Object({ ...progress, at: Timestamp }, strict);
export type CommandProgress = Static<typeof CommandProgress>;

/**
 * The record of a command (contract, section 10). `issued_by` is a user's id, `schedule` or
 * `console`. `outcome` is the result so far. After `ended_at` the command is no longer delivered,
 * because its source moved to another agent or was removed (it then names the event of the
 * removal). `progress` is what the agent said last.
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
    progress: Type.Optional(CommandProgress),
    outcome: Type.Object(
      {
        backup_id: Type.Optional(Id("backup")),
        receipt_id: Type.Optional(Id("receipt")),
        event_id: Type.Optional(Id("event")),
        /** What a restore test found, as its receipt says. */
        result: Type.Optional(ReceiptResult),
      },
      strict,
    ),
  },
  strict,
);
export type CommandRecord = Static<typeof CommandRecord>;
