import type { Retention, RetentionReason } from "@attestore/contract";
import * as shared from "@attestore/host/keep-rules";
import { wallClock } from "../schedules/time-zone.ts";

/**
 * A backup with the time when the service received it, by the service's own clock. The agent's
 * clock decides nothing.
 */
export type { Kept } from "@attestore/host/keep-rules";
export { byTime } from "@attestore/host/keep-rules";

/** Whether any rule keeps something. Without one nothing is ever removed. */
export function hasRules(rules: Retention | null): rules is Retention {
  return rules !== null && shared.hasRules(rules);
}

/** Why each backup stays, with days, weeks and months in the source's time zone. */
export function keepReasons(
  backups: readonly shared.Kept[],
  rules: Retention,
  zone: string,
): Map<string, RetentionReason[]> {
  return shared.keepReasons(backups, rules, { localOf: (at) => wallClock(zone, at) });
}
