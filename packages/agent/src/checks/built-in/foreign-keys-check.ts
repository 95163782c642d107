import type { CheckOutcome } from "@attestore/proof";
import { clip } from "../clip.ts";
import { evaluateCheck } from "../evaluation/evaluate-check.ts";
import { formatRow } from "../values/format-row.ts";
import { inferredId } from "../inferred-id.ts";

const MAX_NAMES = 200;

/**
 * As many of a SQLite database's rows refer to one that is not there as did in the dump. That is
 * the source's own matter, and shown. Other engines: constraints-check.ts.
 */
export function foreignKeysCheck({
  expected,
  broken,
  tables,
  duration_ms,
}: {
  readonly expected: number;
  readonly broken: number;
  readonly tables: readonly string[];
  readonly duration_ms: number;
}): CheckOutcome {
  const definition = {
    id: inferredId("foreign_keys"),
    query: "pragma foreign_key_check",
    expect: `broken = ${expected}`,
  };
  const row = formatRow([
    ["broken", broken],
    ...(tables.length === 0 ? [] : [["tables", clip(tables.join(", "), MAX_NAMES)] as const]),
  ]);
  return evaluateCheck(definition, { kind: "rows", rows: [row] }, duration_ms);
}
