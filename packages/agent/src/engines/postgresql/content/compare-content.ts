import type { CheckOutcome } from "@attestore/proof";
import { contentCheck } from "../../../checks/index.ts";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { nameInSet } from "../name-in-set.ts";
import { batchesOf, copyDigests } from "./copy-out.ts";
import { contentDigest } from "./content-digest.ts";
import { contentTag, REST } from "./describe-content.ts";
import type { ExpectedContent } from "./expected-content.ts";
import { type CatalogueTable, LARGE_OBJECTS, whyNotCompared } from "./tables.ts";

export interface RestoredTables {
  readonly server: ScratchServer;
  /** What leads psql to the database. */
  readonly environment: Readonly<Record<string, string>>;
  /** What the database was called, where there are several. */
  readonly of: string | null;
  /** The largest first. */
  readonly tables: readonly CatalogueTable[];
  /** Whether rows come back in the dump's order; else two digests that differ say nothing. */
  readonly keepsOrder: boolean;
}

/**
 * Reads the tables back as the dump has them, the smallest first, for as long as there is time. Null if none could be compared.
 * @throws RunError
 */
export async function compareContent(
  restored: RestoredTables,
  expected: ExpectedContent,
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
  const time = AbortSignal.timeout(Math.max(1, Math.floor(budget_ms)));
  const tags = await tagsOf(
    restored,
    expected,
    expected.rest === null ? named : [...named, ...rest],
    key,
    AbortSignal.any([signal, time]),
  );
  const compared: [name: string, is: string, shouldBe: string][] = [];
  const differing: string[] = [];
  const skipped: string[] = [];
  let count = 0;
  const hold = (name: string, tables: number, is: string | undefined, shouldBe: string): void => {
    const differs = is !== shouldBe;
    if (is === undefined || (differs && !restored.keepsOrder)) {
      skipped.push(`${name} (${is !== undefined ? "row_order" : time.aborted ? "no_time" : "not_read"})`);
      return;
    }
    count += tables;
    compared.push([name, is, shouldBe]);
    if (differs) differing.push(of === null ? name : nameInSet(of, name));
  };
  for (const [name, tag] of expected.tags) hold(name, 1, tags.get(name), tag);
  let skippedRest = 0;
  if (expected.rest !== null) {
    const own = rest.flatMap(({ name }) => {
      const tag = tags.get(name);
      return tag === undefined ? [] : [[name, tag] as const];
    });
    const isWhole = own.length === rest.length;
    const before = compared.length;
    const what = `one of the ${expected.rest.tables} tables that the receipt does not name`;
    hold(what, expected.rest.tables, isWhole ? contentDigest(own) : undefined, expected.rest.sha256);
    if (compared.length === before) skippedRest = expected.rest.tables - 1;
  }
  stopIfAborted(signal);
  if (restored.server.hasDied())
    throw new RunError("sandbox_failed", "the scratch PostgreSQL broke while tables were compared");
  if (compared.length === 0) return null;
  const isOfRest = (name: string): string => (expected.tags.has(name) ? name : REST);
  return contentCheck({
    ...(of === null ? {} : { of }),
    tables: count,
    differing,
    notCompared: {
      names: [...skipped, ...expected.notCompared.names],
      count: skipped.length + skippedRest + expected.notCompared.count,
    },
    expectedSha256: contentDigest(compared.map(([name, , shouldBe]) => [isOfRest(name), shouldBe])),
    sha256: contentDigest(compared.map(([name, is]) => [isOfRest(name), is])),
    signedSha256: expected.sha256,
    duration_ms: performance.now() - started,
  });
}

/** By table, of those for which there was time. */
async function tagsOf(
  { server, environment, tables: bySize }: RestoredTables,
  { settings }: ExpectedContent,
  tables: readonly CatalogueTable[],
  key: Buffer,
  within: AbortSignal,
): Promise<Map<string, string>> {
  const wanted = new Set(tables);
  const tags = new Map<string, string>();
  for (const batch of batchesOf(bySize.filter((table) => wanted.has(table)).toReversed())) {
    if (within.aborted) break;
    const copied = await copyDigests(batch, { run: server.run, environment, settings, signal: within });
    for (const [{ name, schema, table, columns }, sha256] of copied)
      tags.set(name, contentTag(key, { schema, table, columns, sha256 }));
  }
  return tags;
}
