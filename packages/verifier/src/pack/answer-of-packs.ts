import { type Expectation, type Verdict, worst } from "../outcome.ts";
import { type JoinedPacks, joinPacks } from "./join-packs.ts";
import type { PackOutcome } from "./verify-pack.ts";

/** The answer about all packs. */
export interface PacksAnswer {
  verdict: Verdict;
  /** Null unless requested. */
  expectPassed: Expectation | null;
  outcomes: PackOutcome[];
  /** One for each organisation with several packs. */
  joined: JoinedPacks[];
}

/** The answer about these packs, each alone and those of one organisation together. */
export function answerOfPacks(outcomes: PackOutcome[], expectsPassed: boolean): PacksAnswer {
  const joined = joinPacks(outcomes);
  return {
    joined,
    verdict: worst([...outcomes, ...joined].map(({ verdict }) => verdict)),
    expectPassed: expectsPassed ? packsExpectation(outcomes) : null,
    outcomes,
  };
}

/** For the true packs: whether a restore test passed, and none failed or was missed. */
export function packsExpectation(outcomes: readonly PackOutcome[]): Expectation {
  const totals = outcomes.flatMap(({ verdict, summary }) =>
    verdict === "true" && summary !== null ? [summary.totals] : [],
  );
  const isUnmet = totals.some(
    ({ restore_tests, scheduled_restore_tests }) =>
      restore_tests.failed + scheduled_restore_tests.failed + scheduled_restore_tests.missed > 0,
  );
  if (isUnmet) return "not_met";
  return totals.length > 0 && totals.every(({ restore_tests }) => restore_tests.passed > 0)
    ? "met"
    : "cannot_tell";
}
