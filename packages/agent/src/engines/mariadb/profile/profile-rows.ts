import type { TableProfile } from "@attestore/proof";
import { ColumnProfiler, type Measured, measureBytes, measureText } from "../../../checks/index.ts";
import { type ProfiledColumn, type ProfiledTable, shareOf } from "./profiled-tables.ts";

const NULL = "NULL";

/** Counts what the client prints of one table. */
export class ProfileRows {
  readonly #table: ProfiledTable;
  readonly #profilers: readonly ColumnProfiler[];
  #rows = 0;

  constructor(table: ProfiledTable, seed: number) {
    this.#table = table;
    this.#profilers = table.columns.map(({ name }) => new ColumnProfiler(name, seed));
  }

  add(line: string): void {
    this.#rows += 1;
    const fields = line.split("\t");
    let at = 0;
    for (const [index, { kind }] of this.#table.columns.entries()) {
      const first = fields[at++] ?? NULL;
      const hasSecond = kind === "text" || kind === "bytes" || kind === "time";
      this.#profilers[index]?.add(measured(kind, first, hasSecond ? (fields[at++] ?? "") : ""));
    }
  }

  /** Null if too few rows were read. */
  end(): TableProfile | null {
    const columns = this.#profilers.flatMap((each) => each.end() ?? []);
    if (columns.length === 0) return null;
    const { name, rows } = this.#table;
    return { name, rows: shareOf(this.#table) === 1 ? this.#rows : Number(rows.toPrecision(2)), columns };
  }
}

function measured(kind: ProfiledColumn["kind"], first: string, second: string): Measured | null {
  switch (kind) {
    case "text":
      return first === NULL ? null : measureText(unescaped(second), Number(first));
    case "bytes":
      return first === NULL ? null : measureBytes(second.toLowerCase(), Number(first));
    case "time":
      if (first !== "0") return null;
      // The server has no moment for a day such as 0000-00-00.
      return second === NULL ? { value: second } : { value: second, at_ms: Number(second) * 1000 };
    case "plain":
    case "bits":
      return first === NULL ? null : { value: first };
    case "other":
      return first === "0" ? {} : null;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", "0": "\0" };

function unescaped(field: string): string {
  return field.includes("\\")
    ? field.replaceAll(/\\([^])/g, (_, sign: string) => ESCAPES[sign] ?? sign)
    : field;
}
