import { Type, type Static, type TSchema } from "typebox";
import { BackupRecord } from "./backups.ts";
import { CommandRecord } from "./commands.ts";
import { EventRecord } from "./events.ts";
import { CommandKind } from "./heartbeat.ts";
import { ReceiptRecord, ReceiptResult } from "./receipts.ts";
import { Count, EngineName, Id, Label, Sha256, SizeBytes, Slug, strict, Timestamp } from "./scalars.ts";

const OrNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/**
 * Five fields: minute, hour, day of month, month, day of week. The reader checks that they match
 * any time at all.
 */
export const CronPattern = Type.String({
  maxLength: 100,
  pattern: "^[0-9A-Za-z*,/-]+( [0-9A-Za-z*,/-]+){4}$",
  description: "Minute, hour, day of month, month, day of week, separated by single spaces.",
  examples: ["30 2 * * *"],
});

/**
 * When the service asks for a backup and for a restore test, in an IANA time zone; null for never.
 */
export const Schedule = Type.Object(
  {
    backup_cron: OrNull(CronPattern),
    restore_test_cron: OrNull(CronPattern),
    timezone: Type.String({
      maxLength: 64,
      pattern: "^[A-Za-z][A-Za-z0-9_+/-]*$",
      examples: ["Europe/Berlin"],
    }),
  },
  strict,
);
export type Schedule = Static<typeof Schedule>;

const Keep = Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 }));

/** A backup stays if any rule keeps it. Without a rule that keeps something, every backup stays. */
export const Retention = Type.Object(
  {
    keep_last: Keep,
    keep_days: Keep,
    keep_daily: Keep,
    keep_weekly: Keep,
    keep_monthly: Keep,
    keep_yearly: Keep,
  },
  strict,
);
export type Retention = Static<typeof Retention>;

const Objective = Type.Optional(Type.Integer({ minimum: 1, maximum: 10 * 365 * 86_400 }));

/** How much data may be lost, and how long a restore may take. */
export const Objectives = Type.Object({ rpo_s: Objective, rto_s: Objective }, strict);
export type Objectives = Static<typeof Objectives>;

const proven = Type.Boolean({
  description:
    "Its newest backup, or one no older than its RPO (36 hours unless set), passed a restore test in the last 7 days, and no later failure is open.",
});
const not_proven_because = OrNull(
  Type.Enum(["never_backed_up", "restore_test_failed", "never_proven", "proof_too_old", "newest_not_proven"]),
);

/** Whether a source is proven, by the rule in packages/proof, and if not, why. */
export const Proven = { proven, not_proven_because };

const record = {
  id: Id("source"),
  created_at: Timestamp,
  org_id: Id("org"),
  slug: Slug,
  name: Type.String(),
  engine: EngineName,
  agent_id: Id("agent"),
  test_agent_id: OrNull(Id("agent")),
  schedule: OrNull(Schedule),
  retention: OrNull(Retention),
  objectives: OrNull(Objectives),
  last_backup_at: OrNull(Timestamp),
  /**
   * When a restore test of any of its backups last passed. Only `proven` says whether the source is
   * proven.
   */
  last_proven_at: OrNull(Timestamp),
  proven,
  not_proven_because,
  next_backup_at: OrNull(Timestamp),
  next_restore_test_at: OrNull(Timestamp),
};

/** The record of a source (contract, section 10). */
export const SourceRecord = Type.Object(record, strict);
export type SourceRecord = Static<typeof SourceRecord>;

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

/**
 * How far restore tests reach: how many of the source's kept backups are at least 30 days old, and
 * how many of those were tested lately. At most the 1,000 oldest count.
 */
export const TestCoverage = Type.Object({ older_than_30_days: Count, tested_within_90_days: Count }, strict);
export type TestCoverage = Static<typeof TestCoverage>;

/**
 * 200 of `GET …/sources/{sourceID}`: the record and the open incidents, including those of its
 * agents. `coverage` is as of now, so readers of a period do not get it.
 */
export const SourceDetail = Type.Object(
  { ...record, incidents: Type.Array(IncidentRecord), coverage: Type.Optional(TestCoverage) },
  strict,
);
export type SourceDetail = Static<typeof SourceDetail>;

/** Body of `POST /api/orgs/{orgID}/sources`. */
export const RegisterSourceRequest = Type.Object(
  {
    slug: Slug,
    engine: EngineName,
    agent_id: Id("agent"),
    name: Type.Optional(Label(100)),
    test_agent_id: Type.Optional(OrNull(Id("agent"))),
  },
  strict,
);
export type RegisterSourceRequest = Static<typeof RegisterSourceRequest>;

/**
 * Body of `…/configure`. A given field replaces the old value completely, null removes it, and an
 * absent field leaves it unchanged.
 */
export const ConfigureSourceRequest = Type.Object(
  {
    name: Type.Optional(Label(100)),
    agent_id: Type.Optional(Id("agent")),
    test_agent_id: Type.Optional(OrNull(Id("agent"))),
    schedule: Type.Optional(
      OrNull(
        Type.Object(
          {
            backup_cron: Type.Optional(OrNull(CronPattern)),
            restore_test_cron: Type.Optional(OrNull(CronPattern)),
            timezone: Type.Optional(Schedule.properties.timezone),
          },
          strict,
        ),
      ),
    ),
    retention: Type.Optional(OrNull(Retention)),
    objectives: Type.Optional(OrNull(Objectives)),
  },
  strict,
);
export type ConfigureSourceRequest = Static<typeof ConfigureSourceRequest>;

/** Body of `…/trigger`. `backup_id` is the backup to test; the newest one by default. */
export const TriggerRequest = Type.Object(
  { kind: CommandKind, backup_id: Type.Optional(Id("backup")) },
  strict,
);
export type TriggerRequest = Static<typeof TriggerRequest>;

/** 202 of `…/trigger`. */
export const TriggerAccepted = Type.Object({ command_id: Id("command") }, strict);
export type TriggerAccepted = Static<typeof TriggerAccepted>;

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

export const RetentionReason = Type.Object(
  {
    rule: Type.Union([
      Type.Literal("keep_last"),
      Type.Literal("keep_days"),
      Type.Literal("keep_daily"),
      Type.Literal("keep_weekly"),
      Type.Literal("keep_monthly"),
      Type.Literal("keep_yearly"),
      Type.Literal("no_rule"),
      Type.Literal("newest_proven"),
      Type.Literal("newest_clean"),
      Type.Literal("running_command"),
      Type.Literal("kept"),
    ]),
    /** The day, ISO week, month or year that it is kept for. */
    period: Type.Optional(Type.String()),
  },
  strict,
);
export type RetentionReason = Static<typeof RetentionReason>;

/**
 * Why retention of a source is paused until a person looks: far more backups in the last day than
 * usual, or newest backups less than half the size of one that would be removed.
 */
export const RetentionHold = Type.Union([
  Type.Object({ reason: Type.Literal("count_rose"), last_day: Count, usual_a_day: Count }, strict),
  Type.Object(
    { reason: Type.Literal("size_fell"), newest_bytes: SizeBytes, removed_bytes: SizeBytes },
    strict,
  ),
]);
export type RetentionHold = Static<typeof RetentionHold>;

/**
 * A backup as the retention rules see it: the reasons to keep it. Without a reason it is removed.
 */
export const RetentionDecision = Type.Object(
  {
    backup_id: Id("backup"),
    created_at: Timestamp,
    size_bytes: SizeBytes,
    proven_at: OrNull(Timestamp),
    keep: Type.Boolean(),
    reasons: Type.Array(RetentionReason),
    /** When it is removed, if announced. */
    expires_at: OrNull(Timestamp),
  },
  strict,
);
export type RetentionDecision = Static<typeof RetentionDecision>;

/**
 * 200 of `…/retention-preview`. The totals cover all available backups; the items are a page of
 * them, newest first.
 */
export const RetentionPreview = Type.Object(
  {
    retention: OrNull(Retention),
    timezone: Type.String(),
    keep_count: Count,
    remove_count: Count,
    remove_bytes: Count,
    /** While this is set, nothing is removed. */
    held: OrNull(Type.Object({ since: Timestamp, hold: RetentionHold }, strict)),
    items: Type.Array(RetentionDecision),
    next_cursor: OrNull(Type.String()),
  },
  strict,
);
export type RetentionPreview = Static<typeof RetentionPreview>;

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

/**
 * A scheduled time. `shifted`: a clock change skips that time, so it counts as the moment of the
 * change. `first_of_two`: clocks show that time twice that day, and the first counts.
 */
export const ScheduledTime = Type.Object(
  {
    at: Timestamp,
    clock_change: OrNull(Type.Union([Type.Literal("shifted"), Type.Literal("first_of_two")])),
  },
  strict,
);
export type ScheduledTime = Static<typeof ScheduledTime>;

const ScheduledTimes = Type.Object(
  {
    /** The next five times. */
    next: Type.Array(ScheduledTime),
    /** The times in the coming year that a clock change affects. */
    at_clock_changes: Type.Array(ScheduledTime),
  },
  strict,
);

/**
 * 200 of `GET …/schedule-preview`: the times of the next requests; null for a kind without a cron
 * expression.
 */
export const SchedulePreview = Type.Object(
  { timezone: Type.String(), backup: OrNull(ScheduledTimes), restore_test: OrNull(ScheduledTimes) },
  strict,
);
export type SchedulePreview = Static<typeof SchedulePreview>;
