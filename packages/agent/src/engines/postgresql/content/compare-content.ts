import { availableParallelism } from "node:os";
import type { CheckOutcome } from "@attestore/proof";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import { sideBySide } from "../../../processes/side-by-side.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { compareTags } from "../../content/compare-tags.ts";
import { nameInSet } from "../name-in-set.ts";
import { batchesOf, copyDigests } from "./copy-out.ts";
import { tableTag } from "./describe-content.ts";
import type { ExpectedRows } from "./expected-content.ts";
import { type CatalogueTable, LARGE_OBJECTS, whyNotCompared } from "./tables.ts";

export interface RestoredTables {
  readonly server: ScratchServer;
  /** The environment in which psql connects to the database. */
  readonly environment: Readonly<Record<string, string>>;
  /** The database's name at the source, if a backup has several. */
  readonly of: string | null;
  /** The largest first. */
  readonly tables: readonly CatalogueTable[];
  /** Whether rows come back in the dump's order. If not, two different digests prove nothing. */
  readonly keepsOrder: boolean;
  /** The reason why two different digests of a table prove nothing; null if they do. */
  readonly whyUncertain?: (table: string) => string | null;
}

/** Each is a psql, its server process and a process that hashes; so four keep four cores busy. */
const MAX_SESSIONS = 4;
/** Starting the program that hashes a table takes as long as reading this many bytes. */
const TO_START = 1 << 20;

/**
 * Reads the tables back in the dump's format, the smallest first, until the time is up. Null if
 * none could be compared.
 * @throws RunError
 */
export async function compareContent(
  restored: RestoredTables,
  expected: ExpectedRows,
  {
    key,
    budget_ms,
    signal,
  }: { readonly key: Buffer; readonly budget_ms: number; readonly signal: AbortSignal },
): Promise<CheckOutcome | null> {
  const started = performance.now();
  const { tables, of } = restored;
  const named = tables.filter(({ name }) => expected.tags.has(name));
  const rest = tables.filter(
    (table) =>
      !expected.named.has(table.name) &&
      table.name !== LARGE_OBJECTS &&
      whyNotCompared(table, expected.settings) === null,
  );
  const time = budget_ms < 1 ? AbortSignal.abort() : AbortSignal.timeout(Math.floor(budget_ms));
  const tags = await tagsOf(restored, expected, expected.rest === null ? named : [...named, ...rest], key, {
    signal,
    time,
  });
  stopIfAborted(signal);
  if (restored.server.hasDied() || restored.server.wasKilled?.() === true)
    throw new RunError("sandbox_failed", "the scratch PostgreSQL broke while tables were compared");
  return compareTags(expected, {
    tags,
    unnamed: rest.map(({ name }) => name),
    whyNot: () => (time.aborted ? "no_time" : "not_read"),
    keepsOrder: restored.keepsOrder,
    ...(restored.whyUncertain === undefined ? {} : { whyUncertain: restored.whyUncertain }),
    of,
    nameOf: (name) => (of === null ? name : nameInSet(of, name)),
    query: "the rows of each table, as COPY gives them in the dump's order",
    duration_ms: performance.now() - started,
  });
}

/** The tags of the tables for which there was time, by table. */
async function tagsOf(
  { server, environment, tables: bySize }: RestoredTables,
  { settings }: ExpectedRows,
  tables: readonly CatalogueTable[],
  key: Buffer,
  { signal: whole, time }: { readonly signal: AbortSignal; readonly time: AbortSignal },
): Promise<Map<string, string>> {
  const wanted = new Set(tables);
  const smallestFirst = bySize.filter((table) => wanted.has(table)).toReversed();
  const tags = new Map<string, string>();
  const read = async (share: readonly CatalogueTable[], signal: AbortSignal): Promise<void> => {
    for (const batch of batchesOf(share)) {
      if (signal.aborted || time.aborted) return;
      const copied = await copyDigests(batch, { run: server.run, environment, settings, signal, time });
      for (const [{ name, schema, table, columns }, sha256] of copied)
        tags.set(name, tableTag(key, { schema, table, columns, sha256 }));
    }
  };
  const shares = sharesOf(smallestFirst, Math.min(MAX_SESSIONS, availableParallelism()));
  await sideBySide(
    whole,
    shares.map((share) => (signal: AbortSignal) => read(share, signal)),
  );
  return tags;
}

/** About as much work for each session; each begins with its smallest table. */
function sharesOf(smallestFirst: readonly CatalogueTable[], sessions: number): CatalogueTable[][] {
  const shares = Array.from({ length: sessions }, () => ({ bytes: 0, tables: [] as CatalogueTable[] }));
  for (const table of smallestFirst.toReversed()) {
    const least = shares.reduce((a, b) => (b.bytes < a.bytes ? b : a));
    least.bytes += table.bytes + TO_START;
    least.tables.unshift(table);
  }
  return shares.map(({ tables }) => tables).filter((share) => share.length > 0);
}
