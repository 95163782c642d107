import type { Schemas } from "@attestore/contract/client";

export const STEPS = ["attach", "declare", "run", "back_up", "prove", "schedule", "kit"] as const;
export type Step = (typeof STEPS)[number];

/**
 * Which of the seven steps are done, by what the service knows: so it is the same after a reload,
 * in another browser, and if somebody did a step on the command line.
 */
export function stepsDone({ agents, sources }: Schemas["Overview"]): ReadonlySet<Step> {
  const isDone: Record<Step, boolean> = {
    attach: agents.length > 0,
    declare: sources.length > 0,
    run: agents.some(({ is_running }) => is_running),
    back_up: sources.some(({ last_backup_at }) => last_backup_at !== null),
    prove: sources.some(({ last_proven_at }) => last_proven_at !== null),
    schedule: sources.some(
      ({ next_backup_at, next_restore_test_at }) => next_backup_at !== null && next_restore_test_at !== null,
    ),
    // An agent that has not said whether it has a recovery kit is not counted as having one.
    kit: agents.length > 0 && agents.every(({ has_recovery_kit }) => has_recovery_kit === true),
  };
  return new Set(STEPS.filter((step) => isDone[step]));
}

/** The first step that is not done; null if all are. */
export function currentStep(done: ReadonlySet<Step>): Step | null {
  return STEPS.find((step) => !done.has(step)) ?? null;
}
