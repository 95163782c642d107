/** What failed stands where it is read first; otherwise in the order that the agent made them in. */
export function failedFirst<Check extends { result: "passed" | "failed" }>(
  checks: readonly Check[],
): readonly Check[] {
  return checks.toSorted((a, b) => Number(b.result === "failed") - Number(a.result === "failed"));
}
