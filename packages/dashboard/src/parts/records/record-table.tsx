import type { ReactNode } from "react";
import classes from "./record-table.module.css";

export interface Column<Row> {
  header: string;
  cell: (row: Row) => ReactNode;
  /** Numbers are right-aligned. */
  numeric?: boolean;
}

interface RecordTableProps<Row> {
  /** The table's accessible name. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
}

/** A table of records; on a narrow screen each row becomes a card with the columns' names. */
export function RecordTable<Row>({ caption, columns, rows, rowKey }: RecordTableProps<Row>) {
  return (
    <table className={classes["table"]} aria-label={caption}>
      <thead>
        <tr>
          {columns.map(({ header, numeric }) => (
            <th key={header} data-numeric={numeric}>
              {header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)} data-row={rowKey(row)}>
            {columns.map(({ header, cell, numeric }) => (
              <td key={header} data-label={header} data-numeric={numeric}>
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
