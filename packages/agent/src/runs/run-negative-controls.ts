import type { CheckOutcome } from "@attestore/proof";
import {
  type CanaryCheckConfig,
  columnsOf,
  evaluateCanary,
  evaluateCheck,
  negativeControl,
  parseExpectation,
  type QueryCheckConfig,
  type QueryOutcome,
  type Tried,
} from "../checks/index.ts";
import type { Restored, Ruined } from "../engines/engine.ts";
import type { ChecksToRun } from "./run-checks.ts";

/**
 * `changed`: in a restore test where no check failed, those whose definition no passed test has
 * tried. For a person who asks: `untried`, the same whatever the other checks say, or `all`.
 */
export type WhichControls = "changed" | "untried" | "all";

export interface ControlsToRun extends Pick<ChecksToRun, "source" | "canaries" | "seen" | "signal"> {
  readonly which: WhichControls;
  /** For all checks together. */
  readonly budget_ms: number;
}

/**
 * Tries each check that held on ruined data, where it has to fail. Runs after all checks, and
 * nothing that happens here changes a result: what could not be tried is named.
 */
export async function runNegativeControls(
  restored: Restored,
  outcomes: readonly CheckOutcome[],
  run: ControlsToRun,
): Promise<CheckOutcome[]> {
  const { source, seen, which, budget_ms } = run;
  const hasFailed = outcomes.some(({ result }) => result === "failed");
  const deadline = performance.now() + budget_ms;
  const done: CheckOutcome[] = [];
  for (const outcome of outcomes) {
    const check = source.checks.find(({ id }) => id === outcome.id);
    const before = seen?.negativeControl(outcome.definition_sha256) ?? null;
    const isWanted =
      which === "changed"
        ? before === null && !hasFailed
        : outcome.result === "passed" && (which === "all" || before === null);
    if (check !== undefined && isWanted) {
      const tried = await tryCheck(restored, check, { ...run, budget_ms: deadline - performance.now() });
      const at = new Date().toISOString();
      done.push(tried === null ? outcome : { ...outcome, negative_control: negativeControl(tried, at) });
    } else done.push(before === null ? outcome : { ...outcome, negative_control: before });
  }
  return done;
}

async function tryCheck(
  restored: Restored,
  check: ControlsToRun["source"]["checks"][number],
  { source, canaries, signal, budget_ms }: ControlsToRun,
): Promise<Tried[] | null> {
  const notTried = (reason: string): Tried[] => [{ how: "ruined data", result: "not_tried", reason }];
  if ("command" in check) return notTried("the check is a command");
  if (restored.ruin === undefined) return notTried("this engine has no way to ruin a copy and restore it");
  if (budget_ms <= 0) return notTried("no time was left");
  try {
    const ruined = await restored.ruin(check.query, { timeout_s: source.checkTimeout_s, budget_ms, signal });
    const named = "canary" in check ? null : columnsOf(parseExpectation(check.expect));
    return ruined.length === 0
      ? notTried("the check reads no table")
      : ruined
          .filter(({ columns }) => named === null || columns?.some((each) => named.has(each)) !== false)
          .map((each) => triedOf(each, (outcome) => holds(check, canaries, outcome)));
  } catch (error) {
    return notTried(`the restored copy could no longer be used (${codeOf(error)})`);
  }
}

function triedOf({ how, outcome }: Ruined, held: (outcome: QueryOutcome) => boolean): Tried {
  if (outcome.kind === "not_tried") return { how, result: "not_tried", reason: outcome.reason };
  if (outcome.kind === "timeout") return { how, result: "not_tried", reason: "no time was left" };
  // A query that no longer runs does not show what its expectation would notice.
  if (outcome.kind === "error" && outcome.sqlstate?.startsWith("22") !== true)
    return { how, result: "not_tried", reason: "the query does not run on the ruined copy" };
  return { how, result: held(outcome) ? "not_noticed" : "noticed" };
}

function holds(
  check: QueryCheckConfig | CanaryCheckConfig,
  canaries: ControlsToRun["canaries"],
  outcome: QueryOutcome,
): boolean {
  if (!("canary" in check)) return evaluateCheck(check, outcome, 0).result === "passed";
  const canary = canaries.get(check.id);
  if (canary === undefined) throw new Error("a canary check without its canary");
  return evaluateCanary(check, canary, outcome, 0).result === "passed";
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";
}
