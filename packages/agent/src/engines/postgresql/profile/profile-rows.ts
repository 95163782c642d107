import type { TableProfile } from "@attestore/proof";
import { columnProfile, DifferentTexts } from "../../../checks/index.ts";
import { ALL_ROWS, type ProfiledColumn, type ProfiledTable, shareOf } from "./profiled-tables.ts";

interface Counts {
  values: number;
  seen: number;
  distinct: number;
  logLength: number;
  newest_ms: number | undefined;
  readonly texts: DifferentTexts;
}

/** Adds up what `profileStatement` prints of one table. */
export class ProfileRows {
  readonly #table: ProfiledTable;
  readonly #columns: readonly Counts[];
  #rows = 0;

  constructor(table: ProfiledTable) {
    this.#table = table;
    this.#columns = table.columns.map(({ kind }) => ({
      values: 0,
      seen: 0,
      distinct: 0,
      logLength: 0,
      newest_ms: undefined,
      texts: new DifferentTexts(kind === "bytes"),
    }));
  }

  add(line: string): void {
    const [place, many, first = "\\N", second = "\\N", value = "\\N"] = line.split("\t");
    const [at, count] = [Number(place), Number(many)];
    if (at === ALL_ROWS) this.#rows = count;
    const counts = this.#columns[at];
    const kind = this.#table.columns[at]?.kind;
    if (counts === undefined || kind === undefined) return;
    counts.values += count;
    if (isLookedAt(kind)) {
      counts.seen += count;
      counts.distinct += 1;
      counts.logLength += Number(first);
      counts.texts.add(count, () => (kind === "bytes" ? value : unescaped(value)));
      return;
    }
    if (first !== "\\N") {
      counts.seen = count;
      counts.distinct = Number(first);
    }
    if (second !== "\\N") counts.newest_ms = Number(second) * 1000;
  }

  /** Null if too few rows were read. */
  end(): TableProfile | null {
    const columns = this.#table.columns.flatMap(({ name }, at) => {
      const counts = this.#columns[at];
      return counts === undefined
        ? []
        : (columnProfile({ name, rows: this.#rows, ...counts, ...counts.texts.sums }) ?? []);
    });
    if (columns.length === 0) return null;
    const share = shareOf(this.#table);
    const rows = share === 1 ? this.#rows : Number((this.#rows / share).toPrecision(2));
    return { name: this.#table.name, rows, columns };
  }
}

function isLookedAt(kind: ProfiledColumn["kind"]): kind is "text" | "bytes" | "document" {
  return kind === "text" || kind === "bytes" || kind === "document";
}

const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

function unescaped(field: string): string {
  return field.includes("\\")
    ? field.replaceAll(/\\([^])/g, (_, sign: string) => ESCAPES[sign] ?? sign)
    : field;
}
