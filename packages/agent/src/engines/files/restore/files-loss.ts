import { plural } from "@attestore/proof";
import type { CheckOutcome } from "@attestore/proof";
import { type EarlierTests, FLOOR_DAYS, nextStep, STEADY_DAYS } from "../../../checks/index.ts";

/**
 * What a tree must have by what passed tests saw, as an expectation's terms: half of the most
 * files, or nearly all if it is steady, and a tenth of the most bytes, because it may be right to
 * remove one large file.
 */
export function filesFloors(seen: EarlierTests | null): string[] {
  const { files, bytes } = floorsOf(seen);
  return [...(files < 1 ? [] : [`files >= ${files}`]), ...(bytes < 1 ? [] : [`bytes >= ${bytes}`])];
}

function floorsOf(seen: EarlierTests | null): { readonly files: number; readonly bytes: number } {
  const bytes = Math.ceil((seen?.best("inferred:files", "bytes") ?? 0) / 10);
  return { files: seen?.filesFloor() ?? 0, bytes };
}

/** If a tree lost files that passed tests saw, the check says so, and what to do. */
export function withFilesLoss(
  seen: EarlierTests | null,
  { files, bytes }: { readonly files: number; readonly bytes: number },
  held: CheckOutcome,
): CheckOutcome {
  const floors = floorsOf(seen);
  const isLess = files < floors.files || bytes < floors.bytes;
  if (seen === null || held.result === "passed" || !isLess || held.observed["error"] !== undefined)
    return held;
  const [hadFiles, hadBytes] = (["files", "bytes"] as const).map(
    (of) => seen.best("inferred:files", of) ?? 0,
  ) as [number, number];
  const most = files < floors.files ? seen.mostFiles() : hadFiles;
  const days = most > hadFiles ? STEADY_DAYS : FLOOR_DAYS;
  const error =
    `the tree has ${plural(files, "file")} of ${plural(bytes, "byte")} together, and passed tests of the last ${plural(days, "day")} saw up to ` +
    `${plural(Math.max(most, hadFiles), "file")} and ${plural(hadBytes, "byte")}. ${nextStep(["."], seen.source)}`;
  return { ...held, observed: { error, ...held.observed } };
}
