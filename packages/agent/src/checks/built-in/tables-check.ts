import type { CheckOutcome } from "@attestore/proof";
import { type Cell, namesCells } from "../values/format-row.ts";
import { presentCheck, type ToBePresent } from "./present-check.ts";

export interface TablesToBePresent extends ToBePresent {
  /** Tables whose rows nobody counted: by name, and how many more without names here. */
  readonly notCounted?: { readonly names: readonly string[]; readonly more: number };
  /** They exist, but this host lacks something to read them with: shown, and not compared. */
  readonly notRead?: readonly string[];
  /** Without rows, and no test saw any in them. Nobody knows whether that is right. */
  readonly empty?: readonly string[];
  /** The database, if there are several. */
  readonly of?: string;
}

/** Every table that the backup's metadata name exists. Null if they name none. */
export function tablesPresentCheck({
  notCounted,
  notRead = [],
  empty = [],
  of,
  ...tables
}: TablesToBePresent): CheckOutcome | null {
  const cells = [
    ...notCountedCells(notCounted),
    ...namesCells("not_read", "not_read_tables", notRead),
    ...namesCells("empty", "empty_tables", empty),
  ];
  return presentCheck("tables", tables, { ...(of === undefined ? {} : { of }), cells });
}

/** Shown, and not compared: nobody knows what should be in them. */
function notCountedCells({ names, more }: NonNullable<TablesToBePresent["notCounted"]> = NONE): Cell[] {
  if (names.length + more === 0) return [];
  const listed = names.length === 0 ? [] : [["not_counted_tables", names.join(", ")] as const];
  return [["not_counted", names.length + more], ...listed];
}

const NONE = { names: [], more: 0 };
