import type { CheckOutcome } from "@attestore/proof";
import { evaluateCheck } from "../evaluation/evaluate-check.ts";
import { formatRow, namesCells } from "../values/format-row.ts";
import { inferredId } from "../inferred-id.ts";

/**
 * SQLite's own opinion: `messages` are the rows of `pragma integrity_check`, a single `ok` if all
 * is well. `notChecked` names what this SQLite lacks something for: it is shown, and not compared.
 */
export function sqliteIntegrityCheck({
  messages,
  notChecked = [],
  duration_ms,
}: {
  readonly messages: readonly string[];
  readonly notChecked?: readonly string[];
  readonly duration_ms: number;
}): CheckOutcome {
  const definition = {
    id: inferredId("integrity"),
    query: "pragma integrity_check",
    expect: "messages = 1 and message = 'ok'",
  };
  const row = formatRow([
    ["messages", messages.length],
    ["message", messages[0] ?? null],
    ...namesCells("not_checked", "not_checked_names", notChecked),
  ]);
  return evaluateCheck(definition, { kind: "rows", rows: [row] }, duration_ms);
}
