import { text } from "node:stream/consumers";
import type { CheckOutcome } from "@attestore/proof";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import { releasing } from "../../../processes/coalesce.ts";
import { stopWhen } from "../../../processes/stop-when.ts";
import { compareTags } from "../../content/compare-tags.ts";
import { contentOfDump } from "../../content/content-of-dump.ts";
import type { NotCompared } from "../../content/not-compared.ts";
import { type ExpectedContent, expectedContent } from "../../content/expected-content.ts";
import type { ContentComparison, ForeignMetadata } from "../../engine.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { READER } from "../copy/accounts.ts";
import { DumpCounter, type DumpedTable } from "./dump-counter.ts";
import {
  type Product,
  productOf,
  type Program,
  programOf,
  releaseOf,
  rowLayoutOf,
} from "../connection/programs.ts";
import { hasColumnIn } from "../lossy-columns/json-columns.ts";
import { type ListedTable, tableName } from "../schema.ts";
import { contentName, rowsTag } from "./sign-rows.ts";

/** With these it prints rows as the backup's dump contains them, and nothing else. */
const ARGUMENTS = [
  `--user=${READER}`,
  "--single-transaction",
  "--skip-lock-tables",
  "--quick",
  "--hex-blob",
  "--no-create-db",
  "--no-create-info",
  "--skip-triggers",
  "--no-tablespaces",
  "--default-character-set=utf8mb4",
  "--max-allowed-packet=1G",
];
const MYSQL_ARGUMENTS = ["--set-gtid-purged=OFF"];

/** The dump program of each product. It is expected in the client's directory. */
const DUMPERS: Readonly<Record<Product, string>> = { MariaDB: "mariadb-dump", MySQL: "mysqldump" };

export function isDumper(name: string): boolean {
  return Object.values(DUMPERS).includes(name);
}

/** As `expectedContent` names such a column. */
const JSON_NOT_EXAMINED = " (json_not_examined)";

/** Of the copy. */
interface RestoredTables {
  readonly databases: readonly string[];
  readonly tables: readonly ListedTable[];
}

/**
 * Dumps the rows of the restored copy again, as long as there is time, and compares what its tables
 * hold. Null if nothing could be compared.
 * @throws RunError
 */
export async function compareRows(
  server: ScratchServer,
  copy: RestoredTables,
  comparison: ContentComparison,
): Promise<CheckOutcome | null> {
  const { metadata, signal } = comparison;
  const expected = expectedContent(metadata);
  const dumper = expected === null ? null : await dumperOf(server, metadata, signal);
  if (expected === null || dumper === null) return null;
  const notExamined = expected.notCompared.names.flatMap((each) =>
    each.endsWith(JSON_NOT_EXAMINED) ? [each.slice(0, -JSON_NOT_EXAMINED.length)] : [],
  );
  const uncertain = (table: string): string | null =>
    hasColumnIn(notExamined, table) ? "json_not_examined" : null;
  return compare({ server, dumper, copy, uncertain }, expected, comparison);
}

/**
 * The same with the dump of another program. Nobody knows with which options and which release it
 * printed values, so other rows prove nothing, and only equal ones count.
 * @throws RunError
 */
export async function compareDump(
  server: ScratchServer,
  copy: RestoredTables,
  dump: readonly DumpedTable[],
  comparison: ContentComparison,
): Promise<CheckOutcome | null> {
  const held = new Map(dump.map((each) => [tableName(each.database, each.table), each]));
  const tags = new Map<string, string>();
  const notCompared: NotCompared[] = [];
  for (const table of copy.tables) {
    const name = contentName(table);
    const rows = held.get(table.name);
    const tag = rows === undefined ? null : rowsTag(comparison.key, rows);
    if (tag === null) notCompared.push({ name, why: rows === undefined ? "not_in_dump" : "dump_not_read" });
    else tags.set(name, tag);
  }
  const expected = contentOfDump(tags, notCompared);
  const dumper = expected === null ? null : await dumperBeside(server, comparison.signal);
  if (expected === null || dumper === null) return null;
  return compare({ server, dumper, copy, uncertain: () => "printed_otherwise" }, expected, comparison);
}

interface Comparing {
  readonly server: ScratchServer;
  readonly dumper: Program;
  readonly copy: RestoredTables;
  /** Why other rows of a table prove nothing; null if they do. */
  readonly uncertain: (table: string) => string | null;
}

async function compare(
  { server, dumper, copy, uncertain }: Comparing,
  expected: ExpectedContent,
  { key, budget_ms, signal }: ContentComparison,
): Promise<CheckOutcome | null> {
  const { databases, tables } = copy;
  const started = performance.now();
  const time = budget_ms < 1 ? AbortSignal.abort() : AbortSignal.timeout(Math.floor(budget_ms));
  const history = tables.some(({ isVersioned }) => isVersioned) ? ["--dump-history"] : [];
  const own = dumper.product === "MySQL" ? MYSQL_ARGUMENTS : history;
  const args = [...ARGUMENTS, ...own, "--databases", "--", ...databases];
  const found = await dumpedAgain(server, dumper, args, key, { signal, time });
  stopIfAborted(signal);
  if (server.hasDied())
    throw new RunError("sandbox_failed", "the scratch server broke while tables were compared");
  const names = new Map(tables.map((table) => [table.name, contentName(table)]));
  const tags = found.flatMap((each) => {
    const name = names.get(tableName(each.database, each.table));
    const tag = rowsTag(key, each);
    return name === undefined || tag === null ? [] : [[name, tag] as const];
  });
  return compareTags(expected, {
    tags: new Map(tags),
    unnamed: [...names.values()].filter((name) => !expected.named.has(name)),
    whyNot: () => (time.aborted ? "no_time" : "not_read"),
    keepsOrder: true,
    whyUncertain: uncertain,
    of: null,
    nameOf: (name) => name,
    query: `the rows of each table, as ${DUMPERS[dumper.product]} writes them, in any order`,
    duration_ms: performance.now() - started,
    unkept:
      "dates that are in no calendar (sql_mode ALLOW_INVALID_DATES), and bytes that are not of a text's character set",
  });
}

/**
 * The dump program beside the server, if both print values as the source's did. Another release of
 * either may print the same value differently.
 */
async function dumperOf(
  server: ScratchServer,
  { engine_version, dump_version }: ForeignMetadata,
  signal: AbortSignal,
): Promise<Program | null> {
  if (releaseOf(engine_version) !== releaseOf(server.runtime.engine_version)) return null;
  const dumper = await dumperBeside(server, signal);
  return dumper !== null && releaseOf(dumper.version) === releaseOf(dump_version) ? dumper : null;
}

/** Null if there is none of the server's product. */
async function dumperBeside(server: ScratchServer, signal: AbortSignal): Promise<Program | null> {
  const product = productOf(server.runtime.engine_version);
  const name = DUMPERS[product];
  try {
    const child = await server.run(name, { args: ["--version"], signal });
    child.stdin.end();
    const said = await text(child.stdout);
    await child.exited;
    const program = programOf(name, said);
    return program?.product === product ? program : null;
  } catch (error) {
    stopIfAborted(signal);
    if (error instanceof RunError) return null;
    throw error;
  }
}

/** Returns the tables whose rows were all read. */
async function dumpedAgain(
  server: ScratchServer,
  dumper: Program,
  args: readonly string[],
  key: Buffer,
  { signal, time }: { readonly signal: AbortSignal; readonly time: AbortSignal },
): Promise<readonly DumpedTable[]> {
  if (time.aborted) return [];
  const child = await server.run(dumper.path, { args, signal, isDump: true });
  const ended = stopWhen(time, child);
  const counter = new DumpCounter(rowLayoutOf(dumper), key);
  try {
    child.stdin.end();
    for await (const piece of releasing(child.stdout)) counter.add(piece);
  } catch (error) {
    if (!time.aborted) throw error;
  } finally {
    ended();
    await child.stop();
  }
  const { code } = await child.exited;
  return code === 0 || time.aborted ? counter.tables() : [];
}
