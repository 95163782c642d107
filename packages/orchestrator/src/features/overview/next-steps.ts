import type { NextStep, SourceOverview } from "@attestore/contract";

/** What somebody may do next, the most useful first; of sources one each. */
export function nextSteps({
  agents,
  sources,
  ownChecks,
}: {
  agents: number;
  sources: readonly SourceOverview[];
  /** How many checks of a source's last restore test somebody wrote; null where none is known to have run. */
  ownChecks: (sourceId: string) => number | null;
}): NextStep[] {
  if (agents === 0) return [{ kind: "attach_agent" }];
  if (sources.length === 0) return [{ kind: "declare_source" }];
  const steps: NextStep[] = [];
  const first = (kind: NextStep["kind"], needs: (source: SourceOverview) => boolean): void => {
    const source = sources.find(needs);
    if (source !== undefined) steps.push({ kind, source_id: source.id });
  };
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
  if (sources.some(({ last_backup_at }) => last_backup_at !== null))
    steps.push({ kind: "test_recovery_kit" });
  return steps;
}
