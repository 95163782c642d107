import { Table } from "@mantine/core";
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
    <Table className={classes["table"]} verticalSpacing="xs" aria-label={caption}>
      <Table.Thead>
        <Table.Tr>
          {columns.map(({ header, numeric }) => (
            <Table.Th key={header} data-numeric={numeric}>
              {header}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={rowKey(row)} data-row={rowKey(row)}>
            {columns.map(({ header, cell, numeric }) => (
              <Table.Td key={header} data-label={header} data-numeric={numeric}>
                <div>{cell(row)}</div>
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
