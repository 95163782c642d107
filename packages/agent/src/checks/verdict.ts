import type { CheckOutcome } from "@attestore/proof";
import { clip } from "./clip.ts";
import { isInferred } from "./inferred-id.ts";

const MAX_SHOWN = 200;
const SCHEMA = "inferred:schema";

/**
 * Of all checks of a restore test together: passed only if every one passed and at least one of
 * them read data. `readData` is how many did; without it, all.
 */
export type Verdict = { readonly result: "passed" } | { readonly result: "failed"; readonly reason: string };

export function verdict(checks: readonly CheckOutcome[], readData = checks.length): Verdict {
  const failed = checks.filter(({ result }) => result !== "passed");
  // Somebody's own check says what matters to them: it is named before the checks that follow from
  // the backup. Of these, the schema's only knows that something differs, and others say what.
  const first =
    failed.find(({ id }) => !isInferred(id)) ?? failed.find(({ id }) => id !== SCHEMA) ?? failed[0];
  if (first === undefined) {
    return checks.length > 0 && readData > 0
      ? { result: "passed" }
      : { result: "failed", reason: "no check read any data" };
  }
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more failed)` : "";
  return { result: "failed", reason: `check ${first.id} failed: ${why(first)}${more}` };
}

function why({ observed, expectation }: CheckOutcome): string {
  const error = observed["error"];
  if (typeof error === "string") return error;
  return `expected ${clip(expectation, MAX_SHOWN)}, observed ${clip(JSON.stringify(observed), MAX_SHOWN)}`;
}
