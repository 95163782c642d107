import pg from "pg";
import type { CustomTypesConfig } from "pg";

const { builtins } = pg.types;

/**
 * How database values become JavaScript: int8 a number, date its text (the driver would make it
 * local midnight). All others as in node-postgres: timestamptz a Date, bytea a Buffer, jsonb
 * parsed, numeric text.
 */
export const typeParsers: CustomTypesConfig = {
  getTypeParser(oid: number, format?: string) {
    if (format !== "binary" && oid === builtins.INT8) return parseInt8;
    if (format !== "binary" && oid === builtins.DATE) return (text: string) => text;
    return pg.types.getTypeParser(oid, format === "binary" ? "binary" : "text");
  },
};

/** @throws RangeError instead of rounding */
export function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError(`an int8 of the database is too large for a number: ${text}`);
  return value;
}
