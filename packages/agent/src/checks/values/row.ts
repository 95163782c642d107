import { type Decimal, parseDecimal } from "./decimal.ts";

/** One value of a row; nothing is lost between the database's JSON text and here. */
export type Value =
  | { readonly kind: "null" }
  | { readonly kind: "boolean"; readonly value: boolean }
  /** `text` is the number as the database wrote it. */
  | { readonly kind: "number"; readonly value: Decimal; readonly text: string }
  /** Also dates and times, in the engine's form. */
  | { readonly kind: "text"; readonly value: string }
  /** An object or array, which can't be compared with anything. */
  | { readonly kind: "json"; readonly text: string };

export interface Column {
  readonly name: string;
  readonly value: Value;
}

/** The result of a check's query: the columns of its one row, in order. Their names differ. */
export type Observation = readonly Column[];

/** The row can't be compared with anything. The message names columns, but no value. */
export class MalformedRow extends Error {
  readonly code = "row_malformed";
  constructor(message: string) {
    super(message);
    this.name = "MalformedRow";
  }
}

const MAX_COLUMNS = 32;
const MAX_ROW = 262_144;
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/g;

/**
 * One row as the text of a JSON object, such as PostgreSQL's `row_to_json` and `formatRow` return.
 * Numbers keep their digits.
 * @throws MalformedRow for any other text, and for ambiguous rows (two columns with one name)
 */
export function parseRow(text: string): Observation {
  if (text.length > MAX_ROW) {
    throw new MalformedRow(`the row is larger than ${MAX_ROW} characters: select less`);
  }
  // A lone surrogate has no UTF-8: it could neither be compared as bytes nor be in a receipt.
  if (!text.isWellFormed()) throw new MalformedRow("the row is not Unicode: it holds a lone surrogate");
  requireObject(text);
  const columns: Column[] = [];
  const seen = new Set<string>();
  for (const column of members(text)) {
    if (seen.has(column.name)) {
      const name = JSON.stringify(column.name.slice(0, 64));
      throw new MalformedRow(`two columns are called ${name}: give them different names`);
    }
    seen.add(column.name);
    columns.push(column);
  }
  if (columns.length > MAX_COLUMNS) {
    const most = `a check takes at most ${MAX_COLUMNS}: select fewer`;
    throw new MalformedRow(`the row has ${columns.length} columns, and ${most}`);
  }
  return columns;
}

function requireObject(text: string): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new MalformedRow("the row is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new MalformedRow("the row is not a JSON object");
  }
}

/**
 * The members of the outermost object, for text already known to be JSON. JSON.parse itself would
 * reorder columns whose names are numbers, keep only the last of two with one name, and round
 * numbers.
 */
function* members(text: string): Generator<Column> {
  let depth = 0;
  let name = "";
  let valueAt = -1;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") depth++;
    else if (token === ":" && depth === 1) valueAt = index + 1;
    else if (token === "}" || token === "]" || token === ",") {
      if (depth === 1 && valueAt >= 0) {
        yield { name: stringOf(name), value: valueOf(text.slice(valueAt, index).trim()) };
        valueAt = -1;
      }
      if (token !== ",") depth--;
    } else if (depth === 1 && valueAt < 0) name = token;
  }
}

function valueOf(text: string): Value {
  switch (text.charAt(0)) {
    case "n":
      return { kind: "null" };
    case "t":
      return { kind: "boolean", value: true };
    case "f":
      return { kind: "boolean", value: false };
    case '"':
      return { kind: "text", value: stringOf(text) };
    case "{":
    case "[":
      return { kind: "json", text };
    default: {
      const value = parseDecimal(text);
      if (value === null) throw new MalformedRow("the row holds a number out of range");
      return { kind: "number", value, text };
    }
  }
}

function stringOf(text: string): string {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "string" || !value.isWellFormed()) {
    throw new MalformedRow("the row is not Unicode: it holds a lone surrogate");
  }
  return value;
}
