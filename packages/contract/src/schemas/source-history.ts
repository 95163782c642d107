import { Type, type Static } from "typebox";
import { BackupRecord } from "./backups.ts";
import { CommandRecord } from "./commands.ts";
import { EventRecord } from "./events.ts";
import { ReceiptRecord, ReceiptResult } from "./receipts.ts";
import { Count, Id, OrNull, Sha256, strict, Timestamp } from "./scalars.ts";

/**
 * An entry of a source's timeline. `at` is when the service recorded it. An event that began an
 * incident also shows when the incident ended.
 */
export const TimelineItem = Type.Union([
  Type.Object(
    {
      type: Type.Literal("event"),
      at: Timestamp,
      event: EventRecord,
      incident: OrNull(Type.Object({ ended_at: OrNull(Timestamp) }, strict)),
    },
    strict,
  ),
  Type.Object({ type: Type.Literal("receipt"), at: Timestamp, receipt: ReceiptRecord }, strict),
  Type.Object({ type: Type.Literal("backup"), at: Timestamp, backup: BackupRecord }, strict),
  Type.Object({ type: Type.Literal("command"), at: Timestamp, command: CommandRecord }, strict),
]);
export type TimelineItem = Static<typeof TimelineItem>;

/**
 * Filter for a source's timeline. `trouble` is everything that failed, could not run or was missed.
 */
export const TimelineTopic = Type.Enum(["backups", "restore_tests", "trouble", "commands"]);
export type TimelineTopic = Static<typeof TimelineTopic>;

/** Names of tables, columns, files, … */
const Names = Type.Array(Type.String());

/**
 * A difference from the previous backup, or between a restore test and its backup (contract,
 * section 11). `before` and `after` are the field's values. `changes` are schema changes, if the
 * agent sent a summary with both backups.
 */
export const DriftIndicator = Type.Object(
  {
    kind: Type.Union([Type.Literal("schema"), Type.Literal("environment")]),
    field: Type.String(),
    before: Type.Unknown(),
    after: Type.Unknown(),
    since: Timestamp,
    backup_id: Id("backup"),
    /** The previous backup, if two backups differ. */
    previous_backup_id: Type.Optional(Id("backup")),
    changes: Type.Optional(Type.Object({ added: Names, removed: Names, altered: Names }, strict)),
  },
  strict,
);
export type DriftIndicator = Static<typeof DriftIndicator>;

/** What happened to a check when the agent ruined the restored copy on purpose. */
export const NegativeControl = Type.Object(
  {
    at: Type.String(),
    noticed: Type.Array(Type.String()),
    not_noticed: Type.Array(Type.String()),
    not_tried: Type.Array(Type.String()),
  },
  strict,
);

/** A check of a restore test, as in its receipt. */
export const CheckOutcome = Type.Object(
  {
    id: Type.String(),
    definition_sha256: Sha256,
    observed: Type.Record(Type.String(), Type.Unknown()),
    expectation: Type.String(),
    result: ReceiptResult,
    duration_ms: Count,
    negative_control: Type.Optional(NegativeControl),
  },
  strict,
);
export type CheckOutcome = Static<typeof CheckOutcome>;

/**
 * A finished restore test, as in its receipt's statement. `phases` is present if the agent measured
 * them.
 */
export const RestoreTestRecord = Type.Object(
  {
    receipt_id: Id("receipt"),
    created_at: Timestamp,
    agent_id: Id("agent"),
    backup_id: Id("backup"),
    started_at: Timestamp,
    finished_at: Timestamp,
    result: ReceiptResult,
    reason: Type.Optional(Type.String()),
    runtime: Type.Object(
      {
        kind: Type.String(),
        engine: Type.String(),
        engine_version: Type.String(),
        image_digest: Type.Optional(Type.String()),
        isolation: Type.Optional(Type.String()),
      },
      strict,
    ),
    phases: Type.Optional(
      Type.Object({ download_ms: Count, decrypt_ms: Count, restore_ms: Count, checks_ms: Count }, strict),
    ),
    checks: Type.Array(CheckOutcome),
  },
  strict,
);
export type RestoreTestRecord = Static<typeof RestoreTestRecord>;
