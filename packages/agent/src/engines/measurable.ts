/** A table whose rows can be counted, and its columns. Names are as SQL of the engine has them. */
export interface MeasurableTable {
  readonly name: string;
  readonly columns: readonly MeasurableColumn[];
}

export interface MeasurableColumn {
  readonly name: string;
  /** Null if it is not a time. */
  readonly newest: NewestTime | null;
}

export interface NewestTime {
  /** An aggregate: a text or a number of seconds that `age()` of an expectation reads. */
  readonly sql: string;
  /** How much older it may seem than it is, because nobody knows the times' zone. */
  readonly slack_h: number;
}

export interface Measurables {
  readonly tables: readonly MeasurableTable[];
  /** Whether there are more. */
  readonly isCut: boolean;
}

/** Together, of all tables. */
export const MAX_COLUMNS = 5_000;

/**
 * From rows of the catalogue, in the order of its tables. One row over says that there are more.
 */
export function measurablesOf(
  rows: readonly { readonly table: string; readonly column: MeasurableColumn }[],
): Measurables {
  const tables = new Map<string, MeasurableColumn[]>();
  for (const { table, column } of rows.slice(0, MAX_COLUMNS)) {
    const columns = tables.get(table) ?? [];
    columns.push(column);
    tables.set(table, columns);
  }
  return {
    tables: Array.from(tables, ([name, columns]) => ({ name, columns })),
    isCut: rows.length > MAX_COLUMNS,
  };
}
