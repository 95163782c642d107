import type { DatabaseSync, StatementSync } from "node:sqlite";
import { quotedName } from "../../quoted-name.ts";
import type { TextInHex } from "./text-in-hex.ts";

/** After every this many rows, others may write. */
export const ROWS_AT_ONCE = 20_000;
/** With more terms, an expression has too many levels for SQLite. */
const COLUMNS_AT_ONCE = 100;
/** A result of SQLite has 2,000 columns at most. */
const COLUMNS_OF_STATEMENT = 1_900;

type Value = string | number | null;

/**
 * The rowid, if there is one, what each of the groups of columns has, and a number for each column
 * that has a real one, else null.
 */
export type Row = readonly Value[];

/**
 * Reads each row as texts. A floating-point number comes as a number too, because SQLite's text for
 * it depends on the version. Nothing is compared by a collation, which an application may have
 * defined. A table with more columns than a result has is read by several statements side by side.
 */
export class RowsQuery {
  readonly #statements: readonly { readonly statement: StatementSync; readonly texts: number }[];
  readonly #hasRowid: boolean;

  constructor(
    database: DatabaseSync,
    {
      table,
      columns,
      rowid,
      hex,
    }: {
      readonly table: string;
      readonly columns: readonly string[];
      readonly rowid: string | null;
      readonly hex: TextInHex;
    },
  ) {
    this.#hasRowid = rowid !== null;
    this.#statements = inGroups(columns, COLUMNS_OF_STATEMENT).map((group, at) => {
      const texts = inGroups(group, COLUMNS_AT_ONCE).map((some) =>
        some.map((column) => valueText(quotedName(column), hex)).join(" || ',' || "),
      );
      if (at === 0 && rowid !== null) texts.unshift(`cast(${rowid} as text)`);
      const reals = group.map(
        (column) => `case when typeof(${quotedName(column)}) = 'real' then ${quotedName(column)} end`,
      );
      const from = `select ${[...texts, ...reals].join(", ")} from ${quotedName(table)} not indexed`;
      const statement = database.prepare(
        rowid === null ? from : `${from} where ${rowid} >= ? order by ${rowid} limit ${ROWS_AT_ONCE}`,
      );
      statement.setReturnArrays(true);
      return { statement, texts: texts.length };
    });
  }

  /** How many values of a row come before the numbers. */
  get texts(): number {
    return this.#statements.reduce((total, { texts }) => total + texts, 0);
  }

  /** All rows if the table has no rowid, else so many of those from this one on. */
  rows(from: bigint): Iterable<Row> {
    const parts = this.#statements.map(({ statement, texts }) => ({
      rows: statement.iterate(...(this.#hasRowid ? [from] : [])) as Iterable<unknown> as Iterable<Row>,
      texts,
    }));
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only.rows : sideBySide(parts);
  }
}

function* sideBySide(
  parts: readonly { readonly rows: Iterable<Row>; readonly texts: number }[],
): Generator<Row, void, undefined> {
  const open = parts.map(({ rows, texts }) => ({ rows: rows[Symbol.iterator](), texts }));
  try {
    for (;;) {
      const texts: Value[] = [];
      const reals: Value[] = [];
      for (const part of open) {
        const { done, value } = part.rows.next();
        if (done === true) return;
        texts.push(...(value as Row).slice(0, part.texts));
        reals.push(...(value as Row).slice(part.texts));
      }
      yield [...texts, ...reals];
    }
  } finally {
    // A statement that was not read to its end would keep others from writing.
    for (const { rows } of open) rows.return?.();
  }
}

function inGroups(columns: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.max(1, Math.ceil(columns.length / size)) }, (_, at) =>
    columns.slice(at * size, (at + 1) * size),
  );
}

function valueText(column: string, hex: TextInHex): string {
  return `case typeof(${column}) when 'integer' then cast(${column} as text) when 'text' then 't' || ${hex(column)} when 'blob' then 'b' || hex(${column}) when 'real' then 'r' else 'n' end`;
}
