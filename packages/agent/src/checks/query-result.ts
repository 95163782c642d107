import type { Decimal } from "./decimal.ts";

/** A column's value. Numbers are exact decimals, never floats. `other` is what no comparison is defined for. */
export type Value = null | boolean | string | Decimal | { readonly other: string };

/** One row is what a check is about; whether there were none or several is all that is known of the rest. */
export interface QueryResult {
  readonly rows: "none" | "one" | "several";
  /** Of the only row, in the order of the query. Empty unless `rows` is `one`. */
  readonly row: ReadonlyMap<string, Value>;
}
