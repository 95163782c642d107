import type { Report } from "./finding.ts";

/** Pairs that must be equal: a row's value and the expected one. */
export function compareFields(
  report: Report,
  what: string,
  pairs: Readonly<Record<string, readonly [unknown, unknown]>>,
): void {
  const differing = Object.entries(pairs).filter(([, [found, expected]]) => found !== expected);
  if (differing.length > 0)
    report("entry_differs", `${what} differs in ${differing.map(([name]) => name).join(", ")} from the log`);
}
