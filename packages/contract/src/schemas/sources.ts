import { Type, type Static, type TSchema } from "typebox";
import { BackupRecord } from "./backups.ts";
import { CommandRecord } from "./commands.ts";
import { EventRecord } from "./events.ts";
import { CommandKind } from "./heartbeat.ts";
import { ReceiptRecord, ReceiptResult } from "./receipts.ts";
import { Count, EngineName, Id, Label, Sha256, SizeBytes, Slug, strict, Timestamp } from "./scalars.ts";

const OrNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** Five fields: minute, hour, day of month, month, day of week. That it names a time at all is checked where it is read. */
export const CronPattern = Type.String({
  maxLength: 100,
  pattern: "^[0-9A-Za-z*,/-]+( [0-9A-Za-z*,/-]+){4}$",
  description: "Minute, hour, day of month, month, day of week, separated by single spaces.",
  examples: ["30 2 * * *"],
});

/** When the service asks for a backup and for a restore test, in a zone of the IANA database; null for never. */
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

/** The union of the rules decides what is kept. Without a rule that keeps something everything is kept. */
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

/** Whether a source is proven, by the one rule of packages/proof, and if not why. */
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
  /** When a restore test of any of its backups last passed. Whether the source is proven is said by `proven` alone. */
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
 * Something that did not happen, from the moment it was due until it does. `id` is that of the log's event which tells of it; of
 * an `agent_silent` `source_id` is null, of the others `agent_id`.
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

/** 200 of `GET …/sources/{sourceID}`: the record and the incidents that have not ended, its agents' among them. */
export const SourceDetail = Type.Object({ ...record, incidents: Type.Array(IncidentRecord) }, strict);
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

/** Body of `…/configure`: what is given replaces what was, as a whole; null takes it away; what is absent stays. */
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

/** Body of `…/trigger`; `backup_id` names what a restore test restores, the newest backup unless told. */
export const TriggerRequest = Type.Object(
  { kind: CommandKind, backup_id: Type.Optional(Id("backup")) },
  strict,
);
export type TriggerRequest = Static<typeof TriggerRequest>;

/** 202 of `…/trigger`. */
export const TriggerAccepted = Type.Object({ command_id: Id("command") }, strict);
export type TriggerAccepted = Static<typeof TriggerAccepted>;

/** An entry of a source's timeline; `at` is when the service recorded it. An event that began an incident tells when that ended. */
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

/** What of a source's timeline to show; `trouble` is what failed, could not run or was missed. */
export const TimelineTopic = Type.Enum(["backups", "restore_tests", "trouble", "commands"]);
export type TimelineTopic = Static<typeof TimelineTopic>;

/** Names of tables, columns, files, … */
const Names = Type.Array(Type.String());

/**
 * Something that is not as it was in the backup before, or in a restore test not as in its backup (contract, section 11).
 * `before` and `after` are the field's values; `changes` are those of the schema, where the agent sent a summary with both backups.
 */
export const DriftIndicator = Type.Object(
  {
    kind: Type.Union([Type.Literal("schema"), Type.Literal("environment")]),
    field: Type.String(),
    before: Type.Unknown(),
    after: Type.Unknown(),
    since: Timestamp,
    backup_id: Id("backup"),
    /** The backup before, where it is two backups that differ. */
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
 * What stops the retention of a source until somebody has looked: many more backups in the last day than is usual, or newest ones of
 * less than half the size of one that would go.
 */
export const RetentionHold = Type.Union([
  Type.Object({ reason: Type.Literal("count_rose"), last_day: Count, usual_a_day: Count }, strict),
  Type.Object(
    { reason: Type.Literal("size_fell"), newest_bytes: SizeBytes, removed_bytes: SizeBytes },
    strict,
  ),
]);
export type RetentionHold = Static<typeof RetentionHold>;

/** A backup as the rules see it: why it stays, or, without a reason, that it goes. */
export const RetentionDecision = Type.Object(
  {
    backup_id: Id("backup"),
    created_at: Timestamp,
    size_bytes: SizeBytes,
    proven_at: OrNull(Timestamp),
    keep: Type.Boolean(),
    reasons: Type.Array(RetentionReason),
    /** When it goes, where that was announced. */
    expires_at: OrNull(Timestamp),
  },
  strict,
);
export type RetentionDecision = Static<typeof RetentionDecision>;

/** 200 of `…/retention-preview`. The totals are of all available backups, the items a page of them, newest first. */
export const RetentionPreview = Type.Object(
  {
    retention: OrNull(Retention),
    timezone: Type.String(),
    keep_count: Count,
    remove_count: Count,
    remove_bytes: Count,
    /** While it is there nothing goes. */
    held: OrNull(Type.Object({ since: Timestamp, hold: RetentionHold }, strict)),
    items: Type.Array(RetentionDecision),
    next_cursor: OrNull(Type.String()),
  },
  strict,
);
export type RetentionPreview = Static<typeof RetentionPreview>;

/** A check of a restore test, as its receipt says it. */
export const CheckOutcome = Type.Object(
  {
    id: Type.String(),
    definition_sha256: Sha256,
    observed: Type.Record(Type.String(), Type.Unknown()),
    expectation: Type.String(),
    result: ReceiptResult,
    duration_ms: Count,
  },
  strict,
);
export type CheckOutcome = Static<typeof CheckOutcome>;

/** A restore test that ran, as its receipt's statement says it; `phases` where the agent measured them. */
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
 * A time that a schedule names. `shifted` where a change of the clocks leaves that time out, so that it counts as the moment of the
 * change; `first_of_two` where clocks show it twice that day, of which the first counts.
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
    /** The next five. */
    next: Type.Array(ScheduledTime),
    /** Those of the coming year that a change of the clocks touches. */
    at_clock_changes: Type.Array(ScheduledTime),
  },
  strict,
);

/** 200 of `GET …/schedule-preview`: when the service would ask for what; null for a kind without cron fields. */
export const SchedulePreview = Type.Object(
  { timezone: Type.String(), backup: OrNull(ScheduledTimes), restore_test: OrNull(ScheduledTimes) },
  strict,
);
export type SchedulePreview = Static<typeof SchedulePreview>;
