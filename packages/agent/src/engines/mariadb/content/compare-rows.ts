import { text } from "node:stream/consumers";
import type { CheckOutcome } from "@attestore/proof";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import { releasing } from "../../../processes/gather.ts";
import { compareTags } from "../../content/compare-tags.ts";
import { expectedContent } from "../../content/expected-content.ts";
import type { ContentComparison, ForeignMetadata } from "../../engine.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { READER } from "../accounts.ts";
import { DumpCounter, type DumpedTable } from "./dump-counter.ts";
import { programOf, releaseOf } from "../programs.ts";
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
/** Expected in the client's directory. */
export const DUMPER = "mariadb-dump";

/**
 * Dumps the rows of the restored copy again, as long as there is time, and compares what its tables
 * hold. Null if nothing could be compared.
 * @throws RunError
 */
export async function compareRows(
  server: ScratchServer,
  /** Of the copy. */
  { databases, tables }: { readonly databases: readonly string[]; readonly tables: readonly ListedTable[] },
  { metadata, key, budget_ms, signal }: ContentComparison,
): Promise<CheckOutcome | null> {
  const expected = expectedContent(metadata);
  if (expected === null || !(await dumpsAlike(server, metadata, signal))) return null;
  const started = performance.now();
  const time = budget_ms < 1 ? AbortSignal.abort() : AbortSignal.timeout(Math.floor(budget_ms));
  const history = tables.some(({ isVersioned }) => isVersioned) ? ["--dump-history"] : [];
  const args = [...ARGUMENTS, ...history, "--databases", "--", ...databases];
  const found = await dumpedAgain(server, args, key, { signal, time });
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
    of: null,
    nameOf: (name) => name,
    query: "the rows of each table, as mariadb-dump writes them, in any order",
    duration_ms: performance.now() - started,
  });
}

/**
 * Whether this server and its dump program print values as the source's did. Another release of
 * either may print the same value differently.
 */
async function dumpsAlike(
  server: ScratchServer,
  { engine_version, dump_version }: ForeignMetadata,
  signal: AbortSignal,
): Promise<boolean> {
  if (releaseOf(engine_version) !== releaseOf(server.runtime.engine_version)) return false;
  try {
    const child = await server.run(DUMPER, { args: ["--version"], signal });
    child.stdin.end();
    const said = await text(child.stdout);
    await child.exited;
    const program = programOf(DUMPER, said);
    return program?.product === "MariaDB" && releaseOf(program.version) === releaseOf(dump_version);
  } catch (error) {
    stopIfAborted(signal);
    if (error instanceof RunError) return false;
    throw error;
  }
}

/** Returns the tables whose rows were all read. */
async function dumpedAgain(
  server: ScratchServer,
  args: readonly string[],
  key: Buffer,
  { signal, time }: { readonly signal: AbortSignal; readonly time: AbortSignal },
): Promise<readonly DumpedTable[]> {
  if (time.aborted) return [];
  const child = await server.run(DUMPER, { args, signal, isDump: true });
  const stop = (): void => void child.stop();
  time.addEventListener("abort", stop, { once: true });
  if (time.aborted) stop();
  const counter = new DumpCounter(key);
  try {
    child.stdin.end();
    for await (const piece of releasing(child.stdout)) counter.add(piece);
  } catch (error) {
    if (!time.aborted) throw error;
  } finally {
    time.removeEventListener("abort", stop);
    await child.stop();
  }
  const { code } = await child.exited;
  return code === 0 || time.aborted ? counter.tables() : [];
}
