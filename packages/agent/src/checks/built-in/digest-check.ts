import { type CheckOutcome, isSha256 } from "@attestore/proof";
import { evaluateCheck, failCheck } from "../evaluation/evaluate-check.ts";
import { quoteText } from "../expectation/expression.ts";
import { formatRow } from "../values/format-row.ts";
import { inferredId } from "../inferred-id.ts";

/** How a check compares that has only an earlier backup's digest. It is shown, and not compared. */
export const LESS_EXACTLY = "expressions without casts, parentheses and spaces";

/**
 * Something whose SHA-256 is in the backup's metadata, such as the schema or the manifest of a file
 * tree, still has it. Anything that is not a SHA-256 fails the check: two empty texts would be
 * equal whatever was restored.
 */
export function digestCheck({
  name,
  expectedSha256,
  observedSha256,
  isExact = true,
  otherwise,
  duration_ms,
}: {
  /** The content that the digest covers, for the check's id: `manifest`. */
  readonly name: string;
  readonly expectedSha256: string;
  readonly observedSha256: string;
  /** False if the digest leaves out what `LESS_EXACTLY` says. */
  readonly isExact?: boolean;
  /** What a person has to know if it is another digest, which says nothing itself. */
  readonly otherwise?: string;
  readonly duration_ms: number;
}): CheckOutcome {
  const definition = {
    id: inferredId(name),
    query: `sha256 of the restored ${name}`,
    expect: `sha256 = ${quoteText(expectedSha256)}`,
  };
  if (!isSha256(expectedSha256)) {
    return failCheck(definition, `the backup's metadata has no SHA-256 of the ${name}`, duration_ms);
  }
  const row = formatRow([
    ["sha256", observedSha256],
    ...(isExact ? [] : [["less_exactly", LESS_EXACTLY] as const]),
  ]);
  const outcome = evaluateCheck(definition, { kind: "rows", rows: [row] }, duration_ms);
  return outcome.result === "passed" || otherwise === undefined
    ? outcome
    : { ...outcome, observed: { ...outcome.observed, error: otherwise } };
}
