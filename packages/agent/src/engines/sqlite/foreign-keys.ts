import type { CheckOutcome } from "@attestore/proof";
import { foreignKeysCheck } from "../../checks/index.ts";
import type { ForeignMetadata } from "../engine.ts";
import { type Ask, cells } from "./protocol.ts";

/**
 * Signed in a backup's metadata; absent if no table has a foreign key, or if they were not checked.
 */
export interface ForeignKeys {
  /** Rows that refer to a missing row. */
  readonly broken: number;
}

/** How long the check may take. */
export const FOREIGN_KEYS_S = 30;

const ANY = `select 1 from pragma_table_list t join pragma_foreign_key_list(t.name)
  where t.schema = 'main' and t.type = 'table' limit 1`;
const BROKEN = `select "table", count(*) from pragma_foreign_key_check group by 1 order by 2 desc, 1`;

interface Broken extends ForeignKeys {
  readonly tables: readonly string[];
}

/** Null if there are no foreign keys, or if SQLite cannot tell. */
export async function brokenForeignKeys(ask: Ask): Promise<Broken | null> {
  const any = await ask(ANY);
  if (any?.ok !== true || cells(any).length === 0) return null;
  const listed = await ask(BROKEN);
  if (listed?.ok !== true) return null;
  const rows = cells(listed);
  return {
    broken: rows.reduce((sum, [, count = "0"]) => sum + Number(count), 0),
    tables: rows.map(([table = ""]) => table),
  };
}

/** Null if the backup says nothing about them, or if there was no time for them here. */
export async function checkForeignKeys(ask: Ask, metadata: ForeignMetadata): Promise<CheckOutcome | null> {
  const signed = metadata["foreign_keys"] as Partial<ForeignKeys> | null | undefined;
  const expected = signed?.broken;
  if (typeof expected !== "number" || !Number.isSafeInteger(expected) || expected < 0) return null;
  const started = performance.now();
  const found = await brokenForeignKeys(ask);
  return found === null
    ? null
    : foreignKeysCheck({ expected, ...found, duration_ms: performance.now() - started });
}
