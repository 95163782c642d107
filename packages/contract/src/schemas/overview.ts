import { Type, type Static, type TSchema } from "typebox";
import { CommandKind } from "./heartbeat.ts";
import { Count, EngineName, Id, Slug, strict, Timestamp } from "./scalars.ts";
import { AgentSpool } from "./agents.ts";
import { IncidentRecord, Objectives, Proven } from "./sources.ts";

const OrNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/**
 * What is known of a source now. `failed`: the last restore test failed, or it or the last backup could not run. `missed`: what was due did not
 * happen, or the last backup is older than the RPO. `proven`: neither of these, and a restore test passed that the schedule asked for, which
 * asks for the next one too; or any did in the last seven days. `backed_up`: there is a backup, and no such proof.
 */
export const SourceState = Type.Enum(["failed", "missed", "none", "backed_up", "proven"]);
export type SourceState = Static<typeof SourceState>;

/** Why a source's state is what it is, and what else there is to know of it. */
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
    state: SourceState,
    /** Gravest first. */
    concerns: Type.Array(SourceConcern),
    last_backup_at: OrNull(Timestamp),
    last_proven_at: OrNull(Timestamp),
    ...Proven,
    /** When what `failed` tells of was recorded. */
    failed_at: OrNull(Timestamp),
    objectives: OrNull(Objectives),
    /** Whether the age of the last backup is within the RPO; null without one. */
    rpo_met: OrNull(Type.Boolean()),
    /** Whether the last measured restore was within the RTO; null without either. */
    rto_met: OrNull(Type.Boolean()),
    next_backup_at: OrNull(Timestamp),
    next_restore_test_at: OrNull(Timestamp),
    /** What an agent was asked for and has not finished. */
    running: Type.Array(CommandKind),
    days: Type.String({
      pattern: "^[fmpb-]{30}$|^[fmpb-]{90}$",
      description:
        "One letter per day, from first_day to today, for that day's worst result: f failed, m missed, p proven, b backed up only, - nothing.",
      examples: ["-----------------------bbbpbpf"],
    }),
    /** Of the last days that have one, oldest first: the size of the newest backup in bytes. */
    sizes: Type.Array(Count),
    /** Likewise: how long a restore test took to have the data back, in ms. */
    restore_times_ms: Type.Array(Count),
  },
  strict,
);
export type SourceOverview = Static<typeof SourceOverview>;

/** An agent that is not revoked, on the home page. */
export const AgentOverview = Type.Object(
  {
    id: Id("agent"),
    name: Type.String(),
    hostname: Type.String(),
    last_seen_at: OrNull(Timestamp),
    /** Silent for longer than the service waits. */
    is_silent: Type.Boolean(),
    spool: OrNull(AgentSpool),
  },
  strict,
);
export type AgentOverview = Static<typeof AgentOverview>;

/** What somebody may do next, and to what. */
export const NextStep = Type.Object(
  {
    kind: Type.Enum([
      "attach_agent",
      "declare_source",
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

/** 200 of `GET /api/orgs/{orgID}/overview`: all that the home page shows. */
export const Overview = Type.Object(
  {
    /** The service's time when this was read. */
    now: Timestamp,
    /** The first of the days, `2026-10-23`; days are UTC's. */
    first_day: Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", examples: ["2026-10-23"] }),
    /** Worst first; then by how long ago they were proven. */
    sources: Type.Array(SourceOverview),
    agents: Type.Array(AgentOverview),
    log: Type.Object(
      {
        tree_size: Count,
        /** When the log became this large. */
        grown_at: Timestamp,
        /** When the last hourly head was signed; null before the first. */
        head_signed_at: OrNull(Timestamp),
        /** More than two hours without an hourly head. */
        is_late: Type.Boolean(),
      },
      strict,
    ),
    /** Those that have not ended, newest first. */
    incidents: Type.Array(IncidentRecord),
    /** The most useful first. */
    next_steps: Type.Array(NextStep),
  },
  strict,
);
export type Overview = Static<typeof Overview>;
