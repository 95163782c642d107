import { plural } from "@attestore/proof";
import type { CheckOutcome } from "@attestore/proof";
import { nextStep, type Seen } from "../../checks/index.ts";

/** If a tree lost files that passed tests saw, the check says so, and what to do. */
export function withFilesLoss(
  seen: Seen | null,
  { files, bytes }: { readonly files: number; readonly bytes: number },
  held: CheckOutcome,
): CheckOutcome {
  const [hadFiles, hadBytes] = (["files", "bytes"] as const).map(
    (of) => seen?.best("inferred:files", of) ?? 0,
  );
  if (seen === null || hadFiles === undefined || hadBytes === undefined) return held;
  const isLess = files < hadFiles / 2 || bytes < hadBytes / 10;
  if (held.result === "passed" || !isLess || held.observed["error"] !== undefined) return held;
  const error =
    `the tree has ${plural(files, "file")} of ${plural(bytes, "byte")} together, and passed tests of the last 30 days saw up to ` +
    `${plural(hadFiles, "file")} and ${plural(hadBytes, "byte")}. ${nextStep(["."], seen.source)}`;
  return { ...held, observed: { error, ...held.observed } };
}
