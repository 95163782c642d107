import { Type, type Static } from "typebox";
import { CommandKind } from "./heartbeat.ts";
import { IncidentRecord } from "./incidents.ts";
import { Count, EngineName, Id, Label, OrNull, Slug, strict, Tag, Tags, Timestamp } from "./scalars.ts";

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
  /** Of the agent's config.yaml. */
  tags: Tags,
  environment: OrNull(Tag),
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
