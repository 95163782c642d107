import { Gauge, type Registry } from "prom-client";
import type { InstallationState } from "../installation/installation.ts";
import type { ServiceState } from "./read-state.ts";

/** Sets the gauges of the database's state for a scrape; `null` if the database did not answer. */
export type ShowState = (
  state: ServiceState | null,
  installation: InstallationState,
  isReady: boolean,
) => void;

const COMMANDS = ["queued", "delivered"];
const INCIDENTS = ["backup_missed", "restore_test_missed", "agent_silent"];
const AGENTS = ["active", "revoked"];

/**
 * @param names whether sources are named: their slugs tell what an organisation has, which not
 * every program on this machine may know
 */
export function stateGauges(registry: Registry, names: boolean): ShowState {
  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
  ): Gauge<Label> =>
    new Gauge({ name: `attestore_${name}`, help, labelNames: [...labelNames], registers: [registry] });
  const up = gauge("database_up", "1 if the database answered this scrape, else 0.", []);
  const ready = gauge("ready", "1 if the service can serve, which a write proves (GET /readyz), else 0.", []);
  const size = gauge("log_entries", "Entries in an organisation's log.", ["org_id"]);
  const source = names ? (["org_id", "source_id", "slug"] as const) : (["org_id", "source_id"] as const);
  const proof = gauge(
    "source_proof_age_seconds",
    "Time since a restore test of the source last passed; absent if none has.",
    source,
  );
  const proven = gauge(
    "source_proven",
    "1 if the source is proven: its newest backup, or one within its RPO, passed a restore test in the last 7 days; else 0.",
    source,
  );
  const backup = gauge(
    "source_backup_age_seconds",
    "Age of the source's newest backup; absent if there is none.",
    source,
  );
  const commands = gauge("commands", "Commands not acknowledged yet.", ["status"]);
  const oldest = gauge("commands_oldest_seconds", "Age of the oldest unacknowledged command.", ["status"]);
  const incidents = gauge("incidents_open", "Open incidents: what is overdue and has not happened since.", [
    "kind",
  ]);
  const agents = gauge("agents", "Agents.", ["status"]);
  const mails = gauge("mail_queue", "Mails waiting to be sent.", []);
  const deliveries = gauge(
    "notification_queue",
    "Messages to channels waiting to be delivered or retried.",
    [],
  );
  const lag = gauge(
    "job_lag_seconds",
    "Time by which a job's next successful run is overdue, on any replica; absent before the first run.",
    ["job"],
  );
  const held = gauge(
    "deletions_held",
    "1 if nothing is deleted because the object store may not belong to the database.",
    [],
  );
  const setBack = gauge("logs_set_back", "Logs that lack a signed head and are read-only.", []);
  const quarantined = gauge("objects_quarantined", "Objects that the database does not know.", []);
  const stopped = gauge(
    "objects_sweep_stopped",
    "1 if the last sweep removed nothing because too many objects are unknown to the database.",
    [],
  );
  const changing = [
    quarantined,
    stopped,
    size,
    proof,
    proven,
    backup,
    commands,
    oldest,
    incidents,
    agents,
    mails,
    deliveries,
    lag,
  ];
  return (state, installation, isReady) => {
    ready.set(isReady ? 1 : 0);
    up.set(state === null ? 0 : 1);
    held.set(installation.pairing.is === "held" ? 1 : 0);
    setBack.set(installation.setBack.length);
    // An old value would look like a new one.
    for (const one of changing) one.reset();
    if (state === null) {
      mails.remove();
      deliveries.remove();
      return;
    }
    for (const { org_id, tree_size } of state.logs) size.set({ org_id }, tree_size);
    for (const { org_id, source_id, slug, proof_age_s, backup_age_s, is_proven } of state.sources) {
      const labels = names ? { org_id, source_id, slug } : { org_id, source_id };
      proven.set(labels, is_proven ? 1 : 0);
      if (proof_age_s !== null) proof.set(labels, proof_age_s);
      if (backup_age_s !== null) backup.set(labels, backup_age_s);
    }
    for (const status of COMMANDS) {
      const found = state.commands.find((one) => one.status === status);
      commands.set({ status }, found?.count ?? 0);
      oldest.set({ status }, found?.oldest_s ?? 0);
    }
    for (const kind of INCIDENTS)
      incidents.set({ kind }, state.incidents.find((one) => one.kind === kind)?.count ?? 0);
    for (const status of AGENTS)
      agents.set({ status }, state.agents.find((one) => one.status === status)?.count ?? 0);
    quarantined.set(state.sweep?.quarantined ?? 0);
    stopped.set(state.sweep?.stopped === true ? 1 : 0);
    mails.set(state.mails);
    deliveries.set(state.deliveries);
    for (const { name, lag_s } of state.jobs) if (lag_s !== null) lag.set({ job: name }, lag_s);
  };
}
