/** Failed checks first; otherwise in the agent's order. */
export function failedFirst<Check extends { result: "passed" | "failed" }>(
  checks: readonly Check[],
): readonly Check[] {
  return checks.toSorted((a, b) => Number(b.result === "failed") - Number(a.result === "failed"));
}
