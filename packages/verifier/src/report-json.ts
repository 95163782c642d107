import { receiptKind } from "@attestore/proof";
import { type Answer, exitCode } from "./outcome.ts";
import { plainJson } from "./plain-json.ts";

/** Formats the answer for programs; docs/verify.md describes it. */
export function reportJson(answer: Answer): string {
  const receipts = answer.outcomes.map(({ receipt, verdict, statement, checks, basis, error }) => ({
    receipt,
    verdict,
    kind: statement && receiptKind(statement),
    result: statement && "result" in statement.predicate ? statement.predicate.result : null,
    statement,
    checks,
    basis,
    error,
  }));
  const { verdict, expectPassed } = answer;
  const report = { verdict, exit_code: exitCode(answer), expect_passed: expectPassed, receipts };
  return `${plainJson(report)}\n`;
}
