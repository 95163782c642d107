import type { TableProfile } from "@attestore/proof";
import { ColumnProfiler, type Measured, measureBytes, measureText } from "../../../checks/index.ts";
import { type ProfiledColumn, type ProfiledTable, shareOf } from "./profiled-tables.ts";

/** Counts what COPY prints of one table. */
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
      const size = kind === "text" || kind === "bytes" ? Number(fields[at++]) : 0;
      this.#profilers[index]?.add(measured(kind, fields[at++] ?? "\\N", size));
    }
  }

  /** Null if too few rows were read. */
  end(): TableProfile | null {
    const columns = this.#profilers.flatMap((each) => each.end() ?? []);
    if (columns.length === 0) return null;
    const share = shareOf(this.#table);
    const rows = share === 1 ? this.#rows : Number((this.#rows / share).toPrecision(2));
    return { name: this.#table.name, rows, columns };
  }
}

function measured(kind: ProfiledColumn["kind"], field: string, size: number): Measured | null {
  if (field === "\\N" || (kind === "other" && field === "t")) return null;
  switch (kind) {
    case "text":
      return measureText(unescaped(field), size);
    case "document":
      return measureText(unescaped(field.slice(0, 1024)), field.length);
    case "bytes":
      return measureBytes(field, size);
    case "time":
      return { value: field, at_ms: Number(field) * 1000 };
    case "plain":
      return { value: field };
    case "other":
      return {};
  }
}

const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

function unescaped(field: string): string {
  return field.includes("\\")
    ? field.replaceAll(/\\([^])/g, (_, sign: string) => ESCAPES[sign] ?? sign)
    : field;
}
