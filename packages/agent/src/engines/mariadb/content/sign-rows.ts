import { contentTag } from "../../content/content-tag.ts";
import { withKnownRest } from "../../content/known-rest.ts";
import type { NotCompared } from "../../content/not-compared.ts";
import { signContent } from "../../content/signed-content.ts";
import type { ExactObjectsMetadata } from "../../content/tagged-objects.ts";
import type { SourceMetadata } from "../../engine.ts";
import type { DumpCounter, DumpedTable } from "./dump-counter.ts";
import { hasColumnIn } from "../lossy-columns/json-columns.ts";
import { historyName, type ListedTable, tableName } from "../schema.ts";

/** The rows in a dump, and the tables of its source. */
export interface DumpedRows {
  readonly dumped: DumpCounter;
  readonly tables: readonly ListedTable[];
  /** Tables with a column that a copy may compute differently. */
  readonly computed: ReadonlySet<string>;
  /** Columns of JSON with numbers that a restore changes. */
  readonly retyped: readonly string[];
  /** Columns whose values the dump may have changed. Their tables are compared nevertheless. */
  readonly notExamined: readonly NotCompared[];
  /** Null if they could not be listed. */
  readonly objects: ExactObjectsMetadata | null;
}

/** Adds to the metadata of a dump what its tables hold. */
export function signRows(
  metadata: SourceMetadata,
  { dumped, tables, computed, retyped, notExamined, objects }: DumpedRows,
  key: Buffer,
): SourceMetadata {
  const found = new Map(dumped.tables().map((each) => [tableName(each.database, each.table), each]));
  const tags = new Map<string, string>();
  const notKnown: NotCompared[] = [];
  for (const table of tables) {
    const name = contentName(table);
    const rows = found.get(table.name);
    const tag = rows === undefined ? null : rowsTag(key, rows);
    if (computed.has(table.name)) notKnown.push({ name, why: "generated_column" });
    else if (hasColumnIn(retyped, table.name)) notKnown.push({ name, why: "json_retyped" });
    else if (tag !== null) tags.set(name, tag);
    else notKnown.push({ name, why: rows === undefined ? "not_in_dump" : "dump_not_read" });
  }
  const known = withKnownRest(metadata, tags, notKnown);
  const notCompared = [...known.notCompared, ...notExamined];
  return signContent(metadata, { ...known, notCompared, settings: null, objects });
}

/** Null if the rows were not understood. */
export function rowsTag(key: Buffer, { database, table, rows, sum }: DumpedTable): string | null {
  return sum === null ? null : contentTag(key, [database, table, String(rows), sum]);
}

/** If the server keeps earlier versions of rows, the dump contains them too. */
export function contentName({ name, isVersioned }: ListedTable): string {
  return isVersioned ? historyName(name) : name;
}
