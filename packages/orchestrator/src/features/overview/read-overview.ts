import type { AgentOverview, Overview, SourceOverview } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { incidentRecord } from "../schedules/incidents.ts";
import { readProofs } from "../sources/read-proofs.ts";
import { stripOf, type Strip } from "./day-strip.ts";
import { nextSteps } from "./next-steps.ts";
import { readFailures, readStandingFailures, type TestedSource } from "./failures.ts";
import { judgeSource, worstFirst } from "./source-state.ts";
import {
  readAgents,
  readDays,
  readDrift,
  readIncidents,
  readLogHealth,
  readMissedDays,
  readRunning,
  readSources,
  type SourceDays,
  type SourceRow,
} from "./store.ts";

const DAY_MS = 86_400_000;
/** The hourly head, and generous time to sign it. */
const HEAD_LATE_MS = 2 * 3_600_000;
/** An agent that runs is heard from this often at least, though one heartbeat be lost. */
const RUNNING_INTERVALS = 3;

/**
 * Everything that the home page shows, in one query for each kind of record: the number of queries
 * does not grow with the sources.
 */
export async function readOverview(
  tx: DatabaseTransaction,
  orgId: string,
  { days, now, heartbeatInterval_s }: { days: number; now: Date; heartbeatInterval_s: number },
): Promise<Overview> {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const strip: Strip = { first: new Date(today - (days - 1) * DAY_MS).toISOString().slice(0, 10), days };
  const rows = await readSources(tx, orgId);
  const ids = rows.map(({ id }) => id);
  const running = await readRunning(tx, ids);
  const known = await readDays(tx, orgId, strip);
  const drift = await readDrift(tx, orgId, now);
  const missed = await readMissedDays(tx, orgId, strip.first);
  const failures = await readFailures(tx, orgId, ids, strip.first);
  const proofs = await readProofs(tx, { orgId, ids }, now);
  const sources = rows.map((row): TestedSource => ({
    ...row,
    tested_at: proofs.get(row.id)?.testedAt ?? null,
  }));
  const standing = await readStandingFailures(tx, orgId, sources, strip.first);
  const incidents = await readIncidents(tx, orgId);
  const agents = await readAgents(tx, orgId);
  const log = await readLogHealth(tx, orgId);

  const open = Map.groupBy(incidents, ({ source_id }) => source_id);
  const silent = new Set(incidents.flatMap(({ agent_id }) => agent_id ?? []));
  const active = agents.filter(({ status }) => status === "active");
  const isRunning = ({ last_seen_at }: { last_seen_at: Date | null }): boolean =>
    last_seen_at !== null &&
    now.getTime() - last_seen_at.getTime() <= RUNNING_INTERVALS * heartbeatInterval_s * 1000;
  const activeIds = new Set(active.map(({ id }) => id));
  const shown = sources.map((source): SourceOverview => {
    const seen = known.get(source.id) ?? null;
    const failed = failures.get(source.id) ?? [];
    const proof = proofs.get(source.id) ?? { because: "never_backed_up", failedAt: null };
    const { state, concerns, failedAt } = judgeSource(
      { ...source, proof },
      {
        failures: [...failed, ...(standing.get(source.id) ?? [])],
        open: open.get(source.id)?.map(({ kind }) => kind) ?? [],
        schemaDrift: drift.get(source.id)?.schema ?? false,
        environmentDrift: drift.get(source.id)?.environment ?? false,
        restore_ms: lastOf(seen?.restore_times),
        agents: [source.agent_id, ...(source.test_agent_id === null ? [] : [source.test_agent_id])].map(
          (id) => (silent.has(id) ? "silent" : activeIds.has(id) ? "active" : "revoked"),
        ),
      },
      now,
    );
    return {
      ...serializeSource(source, seen, now),
      proven: proof.because === null,
      not_proven_because: proof.because,
      running: running.get(source.id) ?? [],
      state,
      concerns,
      failed_at: failedAt?.toISOString() ?? null,
      days: stripOf(strip, seen?.marks ?? "", missed.get(source.id) ?? [], failed),
    };
  });
  const ordered = shown.toSorted(worstFirst);
  const ownChecks = (id: string): number | null => known.get(id)?.own_checks ?? null;
  const steps = nextSteps({
    agents: active.map((agent) => ({ ...agent, is_running: isRunning(agent) })),
    sources: ordered,
    ownChecks,
  });
  return {
    now: now.toISOString(),
    first_day: strip.first,
    sources: ordered,
    agents: active.map((agent): AgentOverview => ({
      id: agent.id,
      name: agent.name,
      hostname: agent.hostname,
      last_seen_at: agent.last_seen_at?.toISOString() ?? null,
      is_silent: silent.has(agent.id),
      is_running: isRunning(agent),
      has_recovery_kit: agent.encryption === null ? null : agent.encryption.recovery_kit !== null,
      spool: agent.spool,
    })),
    log: {
      tree_size: log.tree_size,
      grown_at: log.grown_at.toISOString(),
      head_signed_at: log.emitted_at?.toISOString() ?? null,
      is_late: now.getTime() - (log.emitted_at ?? log.created_at).getTime() > HEAD_LATE_MS,
      is_read_only: log.is_read_only,
    },
    incidents: incidents.map((incident) => incidentRecord(incident)),
    next_steps: steps,
  };
}

function serializeSource(
  source: SourceRow,
  seen: SourceDays | null,
  now: Date,
): Omit<
  SourceOverview,
  "running" | "state" | "concerns" | "failed_at" | "days" | "proven" | "not_proven_because"
> {
  const { id, slug, name, engine, agent_id, objectives, labels, last_backup_at } = source;
  const restore_ms = lastOf(seen?.restore_times);
  return {
    id,
    slug,
    name,
    engine,
    agent_id,
    tags: labels.tags ?? [],
    environment: labels.environment ?? null,
    last_backup_at: last_backup_at?.toISOString() ?? null,
    last_proven_at: source.last_proven_at?.toISOString() ?? null,
    objectives,
    rpo_met:
      objectives?.rpo_s === undefined
        ? null
        : last_backup_at !== null && now.getTime() - last_backup_at.getTime() <= objectives.rpo_s * 1000,
    rto_met:
      objectives?.rto_s === undefined || restore_ms === null ? null : restore_ms <= objectives.rto_s * 1000,
    next_backup_at: source.next_backup_at?.toISOString() ?? null,
    next_restore_test_at: source.next_restore_test_at?.toISOString() ?? null,
    sizes: seen?.sizes ?? [],
    restore_times_ms: seen?.restore_times ?? [],
  };
}

function lastOf(values: readonly number[] | undefined): number | null {
  return values?.at(-1) ?? null;
}
