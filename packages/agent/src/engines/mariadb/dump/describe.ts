import { RunError } from "../../../errors/run-error.ts";
import type { SourceMetadata } from "../../engine.ts";
import { countEach, describeTables, type TableCount, COUNTING_S } from "../../row-counts.ts";
import { type SchemaLine, schemaHash, schemaSummary } from "../../schema.ts";
import { tablesComputed } from "../content/computed-columns.ts";
import type { DumpCounter } from "../content/dump-counter.ts";
import { ambiguousEnums } from "../lossy-columns/enum-columns.ts";
import type { ExaminedColumns } from "../lossy-columns/examine-columns.ts";
import { roundedFloats } from "../lossy-columns/float-columns.ts";
import { limited } from "../connection/limited.ts";
import { retypedJson } from "../lossy-columns/json-columns.ts";
import { lossyTexts } from "../lossy-columns/text-columns.ts";
import { productOf } from "../connection/programs.ts";
import {
  checkConstraints,
  definersOf,
  hasViewsOfServer,
  historyName,
  type ListedTable,
  listedTable,
  schemaLine,
  schemaListing,
  tablesBySize,
} from "../schema.ts";
import type { SettingsMetadata } from "../connection/server-settings.ts";
import { type MariadbSession, quoted } from "../connection/session.ts";
import { rowsOf } from "../connection/session-error.ts";

const MAX_DEFINERS = 100;
/** A server's own settings decide how it prints expressions, and the types of a view's columns. */
const PRINTING = ["set session sql_mode = ''", "set session div_precision_increment = 4"];

/**
 * How a backup's agent listed the schema. `printed`: from before 28 November 2026, with joins of
 * views as the server prints them. `aged`: from before 27 November 2026; see `schemaListing`.
 */
export type SchemaListing = "now" | "printed" | "aged";

/** Leaves the session with the settings that it needs: see `resetPrinting`. */
export async function schemaOf(
  session: MariadbSession,
  databases: readonly string[],
  version: string,
  as: SchemaListing = "now",
): Promise<SchemaLine[]> {
  for (const setting of PRINTING) rowsOf(await session.run(setting), "preparing the session");
  const statements = schemaListing(databases, as === "aged");
  const asPrinted = as !== "now";
  if (productOf(version) === "MariaDB") statements.push(checkConstraints(databases));
  // The server silently cuts the listing of an index or key to this length.
  rowsOf(await session.run("set session group_concat_max_len = 1000000"), "preparing the session");
  const lines: SchemaLine[] = [];
  for (const sql of statements)
    lines.push(
      ...rowsOf(await session.run(sql), "listing the schema").map((row) => schemaLine(row, asPrinted)),
    );
  return lines;
}

/** Back to the server's own settings. */
export async function resetPrinting(session: MariadbSession): Promise<void> {
  for (const name of ["sql_mode", "div_precision_increment"])
    await session.run(`set session ${name} = default`);
}

export async function tablesOf(
  session: MariadbSession,
  databases: readonly string[],
): Promise<ListedTable[]> {
  return rowsOf(await session.run(tablesBySize(databases)), "listing the tables").map(listedTable);
}

/** What one consistent snapshot shows: the schema and the row counts of its tables. */
export interface Look {
  readonly lines: readonly SchemaLine[];
  readonly tables: readonly ListedTable[];
  readonly definers: readonly string[];
  readonly hasViewsOfServer: boolean;
  /** By the tables' names, and by `historyName`. */
  readonly counts: ReadonlyMap<string, bigint>;
  readonly floats: ExaminedColumns;
  readonly texts: ExaminedColumns;
  readonly enums: ExaminedColumns;
  readonly json: ExaminedColumns;
  readonly jsonTypes: readonly string[];
  /** See `tablesComputed`. */
  readonly computed: ReadonlySet<string>;
}

export async function look(
  session: MariadbSession,
  databases: readonly string[],
  version: string,
): Promise<Look> {
  const lines = await schemaOf(session, databases, version);
  const tables = await tablesOf(session, databases);
  const definers = await definersOf(session, databases);
  const ofServer = await hasViewsOfServer(session, databases);
  const floats = await roundedFloats(session, databases, version);
  const texts = await lossyTexts(session, databases, version);
  const enums = await ambiguousEnums(session, databases, version);
  const { json, jsonTypes } = await retypedJson(session, databases, version);
  const computed = await tablesComputed(session, databases);
  const places = new Map(
    tables.toReversed().flatMap(({ name, database, table, isVersioned }) => {
      const from = `${quoted(database)}.${quoted(table)}`;
      const own = [name, from] as const;
      return isVersioned ? [own, [historyName(name), `${from} for system_time all`] as const] : [own];
    }),
  );
  const counts = await countEach([...places.keys()], COUNTING_S, async (name, seconds) => {
    const select = `select count(*) from ${places.get(name) ?? ""}`;
    const counted = await session.runForeign(limited(version, select, seconds));
    const text = counted.ok ? counted.rows[0]?.[0] : undefined;
    return text === undefined ? null : BigInt(text);
  });
  return {
    lines,
    tables,
    definers,
    hasViewsOfServer: ofServer,
    counts,
    floats,
    texts,
    enums,
    json,
    jsonTypes,
    computed,
  };
}

export interface Description {
  readonly engine: string;
  readonly version: string;
  readonly dumper: string;
  readonly databases: readonly string[];
  readonly before: Look;
  readonly after: Look;
  readonly dumped: DumpCounter;
  readonly settings: SettingsMetadata;
}

/**
 * The dump program reads in a transaction of its own, which no other session can join. So we look
 * at the source in two snapshots, one older than the dump's and one newer. If both have the same
 * count, so has the dump. If a count changed, it only gives a minimum. If the rows in the dump
 * itself were counted, that many must come back.
 * @throws RunError `source_changed` if the schema changed, because then nobody knows which of the
 * two was dumped.
 */
export function describeDump({
  engine,
  version,
  dumper,
  databases,
  before,
  after,
  dumped,
  settings,
}: Description): SourceMetadata {
  const schema = schemaHash(before.lines);
  if (schema !== schemaHash(after.lines)) {
    throw new RunError(
      "source_changed",
      "the schema changed during the dump, so the dump may match neither version: back it up again",
    );
  }
  const counts = before.tables.flatMap((table) => {
    const { name, isVersioned } = table;
    const [older, newer] = [before.counts.get(name), after.counts.get(name)];
    const rows = dumped.rowsOf(table.database, table.table);
    if (!isVersioned) return [countOfTable(name, { older, newer, rows, isSteady: table.isTransactional })];
    // The dump contains all versions of the rows.
    const all = historyName(name);
    return [
      countOfTable(name, { older, newer, rows: null, isSteady: table.isTransactional }),
      countOfTable(all, {
        older: before.counts.get(all),
        newer: after.counts.get(all),
        rows,
        isSteady: false,
      }),
    ];
  });
  return {
    engine,
    engine_version: version,
    dump_format: "mysqldump-sql",
    schema_hash: schema,
    dump_version: dumper,
    databases: [...databases],
    definers: before.definers.slice(0, MAX_DEFINERS),
    ...settings,
    ...(before.hasViewsOfServer ? { has_views_of_server: true } : {}),
    storage_engines: [...new Set(before.tables.map(({ storageEngine }) => storageEngine))].toSorted(),
    non_transactional_tables: before.tables.filter(({ isTransactional }) => !isTransactional).length,
    ...describeTables(before.lines, counts, { budget_s: COUNTING_S }),
    table_count: before.tables.length,
    schema_summary: schemaSummary(before.lines),
  };
}

interface Counted {
  readonly older: bigint | undefined;
  readonly newer: bigint | undefined;
  /** The rows in the dump itself; null if they were not counted there. */
  readonly rows: bigint | null;
  /** Whether a count that is the same in both snapshots is the dump's count too. */
  readonly isSteady: boolean;
}

function countOfTable(name: string, { older, newer, rows, isSteady }: Counted): TableCount {
  const least = older === undefined || newer === undefined ? null : older < newer ? older : newer;
  const exact = rows ?? (isSteady && older === newer ? (older ?? null) : null);
  // Expect half, and at least one if there was any: rows may have been removed and added again in
  // between.
  const floor = least === null ? null : (least + 1n) / 2n;
  if (exact !== null) return { name, rows: exact };
  return floor === null ? { name } : { name, atLeast: floor };
}
