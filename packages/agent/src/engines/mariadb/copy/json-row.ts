import { literal, quoted } from "../connection/session.ts";

const NUMBERS = /^(?:tinyint|smallint|mediumint|int|bigint|decimal|float|double)$/;
const BYTES = /^(?:binary|varbinary|tinyblob|blob|mediumblob|longblob|geometry|point|linestring|polygon)$/;

/**
 * The SQL expression for a row as a JSON object, from the names and types of its columns. Numbers
 * keep all their digits, bytes are hex, and everything else is the text that the server prints.
 * Columns with the same name are all kept.
 */
export function jsonRow(columns: readonly (readonly string[])[]): string {
  const members = columns.map(([name = "", type = ""], index) => {
    const comma = index === 0 ? "{" : ",";
    return `${literal(`${comma}${JSON.stringify(name.toWellFormed())}:`)}, ${valueOf(quoted(name), type)}`;
  });
  return `concat(${members.join(", ")}, '}')`;
}

function valueOf(column: string, type: string): string {
  if (NUMBERS.test(type)) return `coalesce(cast(${column} as char), 'null')`;
  if (type === "bit" || type === "year") return `coalesce(cast(${column} + 0 as char), 'null')`;
  const text = BYTES.test(type) ? `hex(${column})` : `cast(${column} as char)`;
  return `coalesce(json_quote(convert(${text} using utf8mb4)), 'null')`;
}
