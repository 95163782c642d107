import type { CheckOutcome } from "@attestore/proof";
import { clip } from "./clip.ts";

const MAX_SHOWN = 200;

/** Of all checks of a restore test together: passed only if there is at least one and every one passed. */
export type Verdict = { readonly result: "passed" } | { readonly result: "failed"; readonly reason: string };

export function verdict(checks: readonly CheckOutcome[]): Verdict {
  if (checks.length === 0) return { result: "failed", reason: "no check read any data" };
  const failed = checks.filter(({ result }) => result !== "passed");
  const [first] = failed;
  if (first === undefined) return { result: "passed" };
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more failed)` : "";
  return { result: "failed", reason: `check ${first.id} failed: ${why(first)}${more}` };
}

function why({ observed, expectation }: CheckOutcome): string {
  const error = observed["error"];
  if (typeof error === "string") return error;
  return `expected ${clip(expectation, MAX_SHOWN)}, observed ${clip(JSON.stringify(observed), MAX_SHOWN)}`;
}
