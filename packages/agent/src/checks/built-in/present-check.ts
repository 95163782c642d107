import type { CheckOutcome } from "@attestore/proof";
import { evaluateCheck } from "../evaluation/evaluate-check.ts";
import { type Cell, formatRow } from "../values/format-row.ts";
import { inferredId } from "../inferred-id.ts";

const MISSING = { tables: "missing_tables", roles: "missing_roles" } as const;

export interface ToBePresent {
  readonly expected: readonly string[];
  readonly present: readonly string[];
  readonly duration_ms: number;
}

/**
 * Everything of this kind that the backup's metadata name exists. Null if they name nothing: that
 * would be no check.
 */
export function presentCheck(
  kind: keyof typeof MISSING,
  { expected, present, duration_ms }: ToBePresent,
  { of, cells = [] }: { readonly of?: string; readonly cells?: readonly Cell[] } = {},
): CheckOutcome | null {
  const names = [...new Set(expected)].sort();
  if (names.length === 0) return null;
  const there = new Set(present);
  const missing = names.filter((name) => !there.has(name));
  const definition = {
    id: inferredId(kind, of),
    query: `how many of these ${kind} are missing: ${JSON.stringify(names)}`,
    expect: "missing = 0",
  };
  const row = formatRow([
    [kind, names.length],
    ["missing", missing.length],
    ...(missing.length === 0 ? [] : [[MISSING[kind], missing.join(", ")] as const]),
    ...cells,
  ]);
  return evaluateCheck(definition, { kind: "rows", rows: [row] }, duration_ms);
}
