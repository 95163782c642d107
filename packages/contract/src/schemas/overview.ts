import { Type, type Static } from "typebox";
import { CommandKind } from "./heartbeat.ts";
import { Count, EngineName, Id, OrNull, Slug, strict, Tag, Tags, Timestamp } from "./scalars.ts";
import { AgentSpool } from "./agents.ts";
import { IncidentRecord } from "./incidents.ts";
import { Objectives, Proven } from "./sources.ts";

/**
 * The current state of a source. `failed`: the last restore test failed, or it or the last backup
 * could not run. `missed`: a due run did not happen, or the last backup is older than the RPO.
 * `proven`: neither of these, and either a scheduled restore test passed and the schedule asks for
 * the next one, or any restore test passed in the last seven days. `backed_up`: there is a backup,
 * but no such proof.
 */
export const SourceState = Type.Enum(["failed", "missed", "none", "backed_up", "proven"]);
export type SourceState = Static<typeof SourceState>;

/** The reasons for a source's state, and other facts about it. */
export const SourceConcern = Type.Enum([
  "restore_test_failed",
  "restore_could_not_run",
  "backup_failed",
  "attestation_failed",
  "backup_missed",
  "restore_test_missed",
  "rpo_exceeded",
  "rto_exceeded",
  "never_backed_up",
  "never_proven",
  "proof_too_old",
  "newest_not_proven",
  "agent_silent",
  "agent_revoked",
  "schema_drift",
  "environment_drift",
]);
export type SourceConcern = Static<typeof SourceConcern>;

/** A source on the home page. */
export const SourceOverview = Type.Object(
  {
    id: Id("source"),
    slug: Slug,
    name: Type.String(),
    engine: EngineName,
    agent_id: Id("agent"),
    tags: Tags,
    environment: OrNull(Tag),
    state: SourceState,
    /** The gravest first. */
    concerns: Type.Array(SourceConcern),
    last_backup_at: OrNull(Timestamp),
    last_proven_at: OrNull(Timestamp),
    ...Proven,
    /** When the cause of `failed` was recorded. */
    failed_at: OrNull(Timestamp),
    objectives: OrNull(Objectives),
    /** Whether the age of the last backup is within the RPO; null without an RPO or a backup. */
    rpo_met: OrNull(Type.Boolean()),
    /**
     * Whether the last measured restore was within the RTO; null without an RTO or a measurement.
     */
    rto_met: OrNull(Type.Boolean()),
    next_backup_at: OrNull(Timestamp),
    next_restore_test_at: OrNull(Timestamp),
    /** A command that an agent has not finished. */
    running: Type.Array(CommandKind),
    days: Type.String({
      pattern: "^[fmpb-]{30}$|^[fmpb-]{90}$",
      description:
        "One letter per day, from first_day to today, for that day's worst result: f failed, m missed, p proven, b backed up only, - nothing.",
      examples: ["-----------------------bbbpbpf"],
    }),
    /**
     * Size in bytes of each recent day's newest backup, oldest day first; days without one are left
     * out.
     */
    sizes: Type.Array(Count),
    /** The same for how long a restore test took until the data was back, in ms. */
    restore_times_ms: Type.Array(Count),
  },
  strict,
);
export type SourceOverview = Static<typeof SourceOverview>;

/** An agent on the home page; revoked ones are left out. */
export const AgentOverview = Type.Object(
  {
    id: Id("agent"),
    name: Type.String(),
    hostname: Type.String(),
    last_seen_at: OrNull(Timestamp),
    /** Whether it has been silent for longer than the service waits. */
    is_silent: Type.Boolean(),
    /**
     * Whether it was heard from within the last three heartbeats' time: if not, `attestore run`
     * does not run on its host, or does not reach the service.
     */
    is_running: Type.Boolean(),
    /** Whether a recovery kit was made of its keys; null if it has not said. */
    has_recovery_kit: OrNull(Type.Boolean()),
    spool: OrNull(AgentSpool),
  },
  strict,
);
export type AgentOverview = Static<typeof AgentOverview>;

/** A suggested action and its subject. */
export const NextStep = Type.Object(
  {
    kind: Type.Enum([
      "attach_agent",
      "declare_source",
      "run_agent",
      "look_into_failure",
      "make_backup",
      "test_restore",
      "write_check",
      "set_schedule",
      "set_objectives",
      "make_recovery_kit",
      "test_recovery_kit",
    ]),
    source_id: Type.Optional(Id("source")),
    agent_id: Type.Optional(Id("agent")),
  },
  strict,
);
export type NextStep = Static<typeof NextStep>;

/** 200 of `GET /api/orgs/{orgID}/overview`: everything on the home page. */
export const Overview = Type.Object(
  {
    /** The service's time of this answer. */
    now: Timestamp,
    /** The first of the days, `2026-10-23`. Days are in UTC. */
    first_day: Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", examples: ["2026-10-23"] }),
    /** Worst first, then by the time of the last proof. */
    sources: Type.Array(SourceOverview),
    agents: Type.Array(AgentOverview),
    log: Type.Object(
      {
        tree_size: Count,
        /** When the log reached this size. */
        grown_at: Timestamp,
        /** When the last hourly checkpoint was signed; null before the first. */
        head_signed_at: OrNull(Timestamp),
        /** Whether more than two hours passed without an hourly checkpoint. */
        is_late: Type.Boolean(),
        /** Whether it takes no entries, because the database lacks a head that was signed. */
        is_read_only: Type.Boolean(),
      },
      strict,
    ),
    /** Open incidents, newest first. */
    incidents: Type.Array(IncidentRecord),
    /** The most useful first. */
    next_steps: Type.Array(NextStep),
  },
  strict,
);
export type Overview = Static<typeof Overview>;
