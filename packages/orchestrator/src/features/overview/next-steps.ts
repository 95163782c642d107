import type { AgentEncryption, NextStep, SourceOverview } from "@attestore/contract";

/** Suggested next steps, the most useful first; at most one for each source. */
export function nextSteps({
  agents,
  sources,
  ownChecks,
}: {
  /** Agents that are not revoked; `encryption` is null if one has not said what it encrypts to. */
  agents: readonly { id: string; encryption: AgentEncryption | null; is_running: boolean }[];
  sources: readonly SourceOverview[];
  /**
   * How many of the checks in a source's last restore test somebody wrote; null if no test is
   * known.
   */
  ownChecks: (sourceId: string) => number | null;
}): NextStep[] {
  if (agents.length === 0) return [{ kind: "attach_agent" }];
  if (sources.length === 0) return [{ kind: "declare_source" }];
  const steps: NextStep[] = [];
  const first = (kind: NextStep["kind"], needs: (source: SourceOverview) => boolean): void => {
    const source = sources.find(needs);
    if (source !== undefined) steps.push({ kind, source_id: source.id });
  };
  // Only a running agent does what the dashboard asks for, or what is scheduled.
  const stopped = agents.find(
    ({ id, is_running }) => !is_running && sources.some(({ agent_id }) => agent_id === id),
  );
  if (stopped !== undefined) steps.push({ kind: "run_agent", agent_id: stopped.id });
  first("look_into_failure", ({ state }) => state === "failed");
  first("make_backup", ({ last_backup_at }) => last_backup_at === null);
  first(
    "test_restore",
    ({ last_backup_at, last_proven_at }) => last_backup_at !== null && last_proven_at === null,
  );
  first("write_check", ({ id }) => ownChecks(id) === 0);
  first(
    "set_schedule",
    ({ next_backup_at, next_restore_test_at }) => next_backup_at === null || next_restore_test_at === null,
  );
  first(
    "set_objectives",
    ({ objectives }) => objectives?.rpo_s === undefined || objectives.rto_s === undefined,
  );
  const kit = (agent: (typeof agents)[number]) => agent.encryption?.recovery_kit;
  const without = agents.find((agent) => kit(agent) === null);
  if (without !== undefined) steps.push({ kind: "make_recovery_kit", agent_id: without.id });
  const untested = agents.find((agent) => kit(agent)?.tested_at === null);
  if (untested !== undefined) steps.push({ kind: "test_recovery_kit", agent_id: untested.id });
  return steps;
}
