import type { CheckOutcome } from "@attestore/proof";
import { entryOf } from "../evaluation/evaluate-check.ts";
import { observedRecord } from "../values/observed.ts";
import { formatRow } from "../values/format-row.ts";
import { rowCheckId, tableOfRowCheck } from "../inferred-id.ts";
import { KINDS_ID } from "./kinds-check.ts";
import { parseRow } from "../values/row.ts";
import { goneText } from "../earlier-tests/loss-texts.ts";
import type { EarlierTests } from "../earlier-tests/earlier-tests.ts";

/**
 * Every table that the newest passed test saw still exists. A backup says nothing about a table
 * that was dropped or renamed before it. Null if no test saw any.
 */
export function keptCheck(present: readonly string[], seen: EarlierTests): CheckOutcome | null {
  const expected = seen.expected();
  const { newest } = seen;
  if (newest === null || expected.length === 0) return null;
  const ids = new Set(present.map(rowCheckId));
  const gone = expected.filter(({ name }) => !ids.has(rowCheckId(name)));
  const names = expected.map(({ name }) => name);
  const definition = {
    id: "inferred:kept",
    query: `how many of these tables, which a passed restore test saw, are gone: ${JSON.stringify(names)}`,
    expect: "gone = 0",
  };
  const row = formatRow([
    ["tables", names.length],
    ["gone", gone.length],
    ...(gone.length === 0 ? [] : [["gone_tables", gone.map(({ name }) => name).join(", ")] as const]),
    ["since", newest.at],
    ["backup_id", newest.backupId],
  ]);
  const error = gone.length === 0 ? null : goneText(gone, newest, seen.source);
  const decision = { passed: gone.length === 0, observed: observedRecord(parseRow(row), error) };
  return entryOf(definition, definition.expect, decision, 0);
}

/**
 * The tables that a restore test missed, or found too few rows in, as far as its receipt names
 * them.
 */
export function missedTables(checks: readonly Pick<CheckOutcome, "id" | "result" | "observed">[]): {
  readonly tables: readonly { readonly table: string; readonly rows: number | null }[];
  /** False if the receipt had no room for all names. */
  readonly isAll: boolean;
} {
  const failed = checks.filter(({ result }) => result === "failed");
  const gone = failed.find(({ id }) => id === "inferred:kept")?.observed["gone_tables"];
  const isCut = typeof gone === "object" && gone !== null && "text" in gone;
  const text = isCut ? gone.text : gone;
  const names = typeof text === "string" ? text.split(", ") : [];
  // The last one is cut too.
  const whole = isCut ? names.slice(0, -1) : names;
  const few = failed.flatMap(({ id, observed: { rows } }) => {
    const table = tableOfRowCheck(id);
    return table !== null && typeof rows === "number" ? [{ table, rows }] : [];
  });
  // Content outside of tables belongs to the whole source, which is called `.`.
  const ofSource = failed.flatMap(({ id, observed: { files, objects, error } }) => {
    const rows = id === "inferred:files" ? files : id === KINDS_ID ? objects : undefined;
    return typeof rows === "number" && typeof error === "string" ? [{ table: ".", rows }] : [];
  });
  return { tables: [...whole.map((table) => ({ table, rows: null })), ...few, ...ofSource], isAll: !isCut };
}
