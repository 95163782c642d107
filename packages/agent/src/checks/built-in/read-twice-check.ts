import type { CheckOutcome } from "@attestore/proof";
import { clip } from "../clip.ts";
import { evaluateCheck } from "../evaluation/evaluate-check.ts";
import { quoteText } from "../expectation/expression.ts";
import { formatRow } from "../values/format-row.ts";
import { inferredId } from "../inferred-id.ts";

/**
 * The stored backup was right when it was read a second time. `first`: what was wrong before. It
 * only records that: a second reading with another digest than `sha256` has ended the test, and a
 * test without this check read the backup once.
 */
export function readTwiceCheck({
  sha256,
  first,
}: {
  readonly sha256: string;
  readonly first: string;
}): CheckOutcome {
  const row = formatRow([
    ["readings", 2],
    ["first_reading", clip(first, 400)],
    ["sha256", sha256],
  ]);
  return evaluateCheck(
    {
      id: inferredId("reading"),
      query: "the SHA-256 of the stored backup, read a second time because the first reading was damaged",
      expect: `sha256 = ${quoteText(sha256)}`,
    },
    { kind: "rows", rows: [row] },
    0,
  );
}
