import type { Candidate } from "./candidate.ts";
import { checkId } from "./check-id.ts";

interface Table {
  /** In SQL. */
  readonly table: string;
  /** Without its schema, for the check's id. */
  readonly name: string;
}

/** A table whose rows refer to rows of another one. */
export interface Reference {
  readonly child: Table;
  readonly parent: Table;
}

export interface CountedReference {
  readonly child: Table & { readonly rows: number };
  readonly parent: Table & { readonly rows: number };
}

/** The rows of at most this many references are counted. */
export const MAX_REFERENCES = 4;

/** With fewer rows a ratio says little. */
const MIN_ROWS = 20;

/**
 * There are at least half as many children for each parent as now. There is no upper bound, because
 * parents such as countries stay as they are while their children grow.
 */
export function rowRatio({ child, parent }: CountedReference): Candidate | string {
  if (Math.min(child.rows, parent.rows) < MIN_ROWS) return "there are too few rows";
  const floor = Math.floor((child.rows / parent.rows / 2) * 1000) / 1000;
  if (floor === 0) return "there are too few rows for each that they refer to";
  const query = (children: string, parents: string): string =>
    `select round((select count(*) from ${children}) * 1.0 / nullif((select count(*) from ${parents}), 0), 3) as ratio`;
  const none = (table: string): string => `(select 1 from ${table} where 1 = 0) gone`;
  return {
    id: checkId("ratio", child.name, parent.name),
    query: query(child.table, parent.table),
    expect: `ratio >= ${floor}`,
    ruined: [
      { how: `an empty ${child.table}`, query: query(none(child.table), parent.table) },
      { how: `an empty ${parent.table}`, query: query(child.table, none(parent.table)) },
    ],
  };
}
