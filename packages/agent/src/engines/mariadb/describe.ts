import { CouldNotRun } from "../../runs/could-not-run.ts";
import type { SourceMetadata } from "../engine.ts";
import {
  MAX_TABLES_COUNTED,
  MAX_TABLES_LISTED,
  type SchemaLine,
  schemaHash,
  type TableSummary,
  tableSchema,
} from "../schema-hash.ts";
import { schemaSummary } from "../schema-summary.ts";
import { productOf } from "./programs.ts";
import {
  checkConstraints,
  definersOf,
  type ListedTable,
  listedTable,
  schemaLine,
  schemaListing,
  tablesBySize,
} from "./schema.ts";
import { type MariadbSession, quoted } from "./session.ts";
import { rowsOf } from "./session-error.ts";

/** What counting may cost the source in all, at each of the two looks. */
const COUNTING_MS = 60_000;
const MAX_DEFINERS = 100;

export async function schemaOf(
  session: MariadbSession,
  databases: readonly string[],
  version: string,
): Promise<SchemaLine[]> {
  const statements = schemaListing(databases);
  if (productOf(version) === "MariaDB") statements.push(checkConstraints(databases));
  // The listing of an index or a key is cut off at this length, silently.
  rowsOf(await session.run("set session group_concat_max_len = 1000000"), "preparing the session");
  const lines: SchemaLine[] = [];
  for (const sql of statements)
    lines.push(...rowsOf(await session.run(sql), "listing the schema").map(schemaLine));
  return lines;
}

export async function tablesOf(
  session: MariadbSession,
  databases: readonly string[],
): Promise<ListedTable[]> {
  return rowsOf(await session.run(tablesBySize(databases)), "listing the tables").map(listedTable);
}

/** What one consistent snapshot shows: the schema, and how many rows the largest tables have. */
export interface Look {
  readonly lines: readonly SchemaLine[];
  readonly tables: readonly ListedTable[];
  readonly definers: readonly string[];
  readonly counts: ReadonlyMap<string, bigint>;
}

export async function look(
  session: MariadbSession,
  databases: readonly string[],
  version: string,
): Promise<Look> {
  const lines = await schemaOf(session, databases, version);
  const tables = await tablesOf(session, databases);
  const definers = await definersOf(session, databases);
  const counts = new Map<string, bigint>();
  const deadline = performance.now() + COUNTING_MS;
  for (const { name, database, table } of tables.slice(0, MAX_TABLES_COUNTED)) {
    if (performance.now() > deadline) break;
    const counted = await session.runForeign(`select count(*) from ${quoted(database)}.${quoted(table)}`);
    const count = counted.ok ? counted.rows[0]?.[0] : undefined;
    if (count !== undefined) counts.set(name, BigInt(count));
  }
  return { lines, tables, definers, counts };
}

export interface Description {
  readonly engine: string;
  readonly version: string;
  readonly dumper: string;
  readonly databases: readonly string[];
  readonly before: Look;
  readonly after: Look;
}

/**
 * The dump program reads in a transaction of its own, which nobody else can join. So the source is looked at in two snapshots,
 * one older than the dump's and one newer. What is the same in both is what the dump has; a count that moved gives a floor.
 * @throws CouldNotRun `source_changed` if the schema moved: then nobody knows which of the two was dumped.
 */
export function describeDump({
  engine,
  version,
  dumper,
  databases,
  before,
  after,
}: Description): SourceMetadata {
  const schema = schemaHash(before.lines);
  if (schema !== schemaHash(after.lines)) {
    throw new CouldNotRun(
      "source_changed",
      "the schema was changed while it was dumped, so that the dump may be of neither: back it up again",
    );
  }
  const tables = before.tables.slice(0, MAX_TABLES_LISTED).map(({ name, isTransactional }): TableSummary => {
    const [older, newer] = [before.counts.get(name), after.counts.get(name)];
    const summary = { name, schema: tableSchema(before.lines, name) };
    if (older === undefined || newer === undefined) return summary;
    if (older === newer && isTransactional) return { ...summary, rows: countOf(older) };
    const floor = (older < newer ? older : newer) / 2n;
    return floor === 0n ? summary : { ...summary, rows_at_least: countOf(floor) };
  });
  return {
    engine,
    engine_version: version,
    dump_format: "mysqldump-sql",
    schema_hash: schema,
    dump_version: dumper,
    databases: [...databases],
    definers: before.definers.slice(0, MAX_DEFINERS),
    storage_engines: [...new Set(before.tables.map(({ storageEngine }) => storageEngine))].toSorted(),
    non_transactional_tables: before.tables.filter(({ isTransactional }) => !isTransactional).length,
    table_count: before.tables.length,
    tables,
    schema_summary: schemaSummary(before.lines),
  };
}

function countOf(count: bigint): number | string {
  return count <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(count) : String(count);
}
