import type { Basis } from "./basis.ts";
import type { Statement } from "@attestore/proof";

export type Verdict = "true" | "false" | "cannot_tell";

/** One line of the answer about a receipt. `hint` is the option that enables the check. */
export interface CheckedLine {
  id: string;
  title: string;
  result: "held" | "failed" | "not_checked";
  detail: string;
  hint: string | null;
}

/** The answer about one receipt. */
export interface Outcome {
  /** The name under which it was given. */
  receipt: string;
  verdict: Verdict;
  /** Set only if the agent's signature over it is valid. */
  statement: Statement | null;
  checks: CheckedLine[];
  /** What the verdict depends on; null if nothing could be checked. */
  basis: Basis | null;
  /** Why nothing could be checked, or why the file is not a receipt. */
  error: { code: string; message: string } | null;
}

export type Expectation = "met" | "not_met" | "cannot_tell";

/** The answer about all receipts. */
export interface Answer {
  verdict: Verdict;
  /** Null unless requested. */
  expectPassed: Expectation | null;
  outcomes: Outcome[];
}

/** `false` takes precedence over `cannot_tell`, and that over `true`. */
export function worst(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes("false")) return "false";
  return verdicts.length === 0 || verdicts.includes("cannot_tell") ? "cannot_tell" : "true";
}

/** For the true receipts: whether there is a restore test and every one passed. */
export function expectation(outcomes: readonly Outcome[]): Expectation {
  const results = outcomes.flatMap(({ verdict, statement }) =>
    verdict === "true" && statement && "result" in statement.predicate ? [statement.predicate.result] : [],
  );
  if (results.includes("failed")) return "not_met";
  return results.length > 0 ? "met" : "cannot_tell";
}

/**
 * 0 if all is true, 1 if something is false, or a restore test failed where they were expected to
 * pass, and 2 for what cannot be told.
 */
export function exitCode({ verdict, expectPassed }: Pick<Answer, "verdict" | "expectPassed">): 0 | 1 | 2 {
  if (verdict === "false" || expectPassed === "not_met") return 1;
  return verdict === "true" && expectPassed !== "cannot_tell" ? 0 : 2;
}
