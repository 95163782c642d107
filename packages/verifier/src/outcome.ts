import type { Basis } from "./basis.ts";
import type { Statement } from "@attestore/proof";

export type Verdict = "true" | "false" | "cannot_tell";

/** One line of the answer about a receipt; `hint` is the option that would have it checked. */
export interface CheckedLine {
  id: string;
  title: string;
  result: "held" | "failed" | "not_checked";
  detail: string;
  hint: string | null;
}

/** The answer about one receipt. */
export interface Outcome {
  /** As it was named. */
  receipt: string;
  verdict: Verdict;
  /** Only when the agent's signature over it holds. */
  statement: Statement | null;
  checks: CheckedLine[];
  /** What the verdict rests on; null where nothing could be checked. */
  basis: Basis | null;
  /** Why nothing could be checked, or what the file is not. */
  error: { code: string; message: string } | null;
}

export type Expectation = "met" | "not_met" | "cannot_tell";

/** The answer about all of them. */
export interface Answer {
  verdict: Verdict;
  /** Null unless asked for. */
  expectPassed: Expectation | null;
  outcomes: Outcome[];
}

/** False over cannot tell over true. */
export function worst(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes("false")) return "false";
  return verdicts.length === 0 || verdicts.includes("cannot_tell") ? "cannot_tell" : "true";
}

/** Of the receipts that are true: every restore test passed, and there is one. */
export function expectation(outcomes: readonly Outcome[]): Expectation {
  const results = outcomes.flatMap(({ verdict, statement }) =>
    verdict === "true" && statement && "result" in statement.predicate ? [statement.predicate.result] : [],
  );
  if (results.includes("failed")) return "not_met";
  return results.length > 0 ? "met" : "cannot_tell";
}

export function exitCode({ verdict, expectPassed }: Pick<Answer, "verdict" | "expectPassed">): 0 | 1 | 2 {
  if (verdict === "false" || expectPassed === "not_met") return 1;
  return verdict === "true" && expectPassed !== "cannot_tell" ? 0 : 2;
}
