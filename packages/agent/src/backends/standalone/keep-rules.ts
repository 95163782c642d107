import * as shared from "@attestore/host/keep-rules";
import type { KeepRules } from "../../config/storage-config.ts";

export interface Datable {
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
}

export function hasRules(rules: KeepRules): boolean {
  return shared.hasRules(named(rules));
}

/**
 * Why each backup of one source is kept, by id; the others may be removed. `passed`: those that
 * ever passed a restore test, those whose newest test passed, and those of them in which nothing
 * was suspicious. `keptByTests` says which of these are never pruned.
 */
export function keptBy(
  backups: readonly Datable[],
  rules: KeepRules,
  {
    passed,
    now,
  }: { readonly passed: Record<"ever" | "lately" | "clean", ReadonlySet<string>>; readonly now: Date },
): ReadonlyMap<string, string[]> {
  const dated = backups.map(({ id, at }) => ({ id, at: new Date(at) }));
  const reasons = shared.keepReasons(dated, named(rules), { localOf: (at) => at, now });
  const kept = new Map<string, string[]>();
  const keep = (id: string, why: string): void => void kept.set(id, [...(kept.get(id) ?? []), why]);
  for (const [id, why] of reasons) for (const { rule } of why) keep(id, rule.replace("keep_", ""));
  const tested = shared.keptByTests(dated, {
    ever: ({ id }) => passed.ever.has(id),
    lately: ({ id }) => passed.lately.has(id),
    clean: ({ id }) => passed.clean.has(id),
  });
  for (const [id, why] of tested) keep(id, why);
  return kept;
}

/** As the service has the same rules. */
function named(rules: KeepRules): shared.KeepRules {
  return {
    keep_last: rules.last,
    keep_days: rules.days,
    keep_daily: rules.daily,
    keep_weekly: rules.weekly,
    keep_monthly: rules.monthly,
    keep_yearly: rules.yearly,
  };
}
