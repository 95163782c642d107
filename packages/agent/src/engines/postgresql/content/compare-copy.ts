import type { CheckOutcome } from "@attestore/proof";
import { compareObjects, type ExpectedObjects, expectedObjects } from "../../content/compare-objects.ts";
import { recordOf } from "../../content/expected-content.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import type { ContentComparison } from "../../engine.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { isOfType, PRIVILEGES_WORDS } from "../privileges/list-privileges.ts";
import type { PsqlSession, Statement } from "../connection/psql-session.ts";
import type { Loaded } from "../restore/run-pg-restore.ts";
import { EXTENSIONS, PRINTING, rowsOf } from "../schema.ts";
import { isTimedOut, ownOutput } from "../copy/query-copy.ts";
import { isUnrestored, UNRESTORED_WORDS } from "../unrestored/unrestored-objects.ts";
import { majorOf } from "../connection/version.ts";
import { compareContent } from "./compare-content.ts";
import { compareDump, UNCERTAIN_TABLES } from "./compare-dump.ts";
import { EARLIER_OBJECTS, earlierObjects, listedThen, WRITES_OPTIONS } from "./earlier-objects.ts";
import { expectedRows } from "./expected-content.ts";
import { moreRestored } from "./more-objects.ts";
import {
  knownPrivileges,
  knownUnrestored,
  leftOutAtSource,
  otherVersions,
  ownersNotCompared,
  unrestoredNotCompared,
} from "./not-looked-at.ts";
import { databaseObjects, OBJECTS_WORDS, RESTORED_OBJECTS, withEarlierNames } from "./objects.ts";
import type { ArchiveContent } from "./read-archive.ts";
import { catalogueTables, RESTORED_CONTENT_TABLES } from "./tables.ts";

/** A restored database, as far as comparing needs it. */
export interface Copy {
  readonly server: ScratchServer;
  /** The environment in which psql connects to the database. */
  readonly environment: Readonly<Record<string, string>>;
  /** The database's name at the source, if a backup has several. */
  readonly of: string | null;
  readonly loaded: Loaded;
  readonly inSession: <Result>(
    signal: AbortSignal,
    use: (session: PsqlSession) => Promise<Result>,
  ) => Promise<Result>;
  /** Called when its objects were listed, or will not be. */
  readonly onListed: () => void;
}

/**
 * Compares a copy with its backup's metadata. Another major version may print the same value in
 * another way, so then there is no outcome.
 * @throws RunError
 */
export async function compareCopy(
  copy: Copy,
  comparison: ContentComparison,
): Promise<readonly CheckOutcome[]> {
  const { engine_version } = comparison.metadata;
  if (majorOf(engine_version) !== majorOf(copy.server.runtime.engine_version)) return [];
  const started = performance.now();
  const objects = await compareItsObjects(copy, comparison);
  copy.onListed();
  const budget_ms = comparison.budget_ms - (performance.now() - started);
  return [
    ...(await compareTables(copy, { ...comparison, budget_ms })),
    ...objects,
    ...comparePrivileges(copy, comparison),
    ...compareUnrestored(copy, comparison),
  ];
}

async function compareItsObjects(
  { of, loaded, inSession }: Copy,
  { metadata, key, budget_ms, signal }: ContentComparison,
): Promise<readonly CheckOutcome[]> {
  const expected = expectedObjects(metadata);
  if (expected === null) return [];
  const started = performance.now();
  const isFirst = expected.version === 1;
  const listed = await inSession(signal, async (session) => {
    for (const setting of PRINTING) ownOutput(await session.run(`set ${setting}`));
    ownOutput(await session.run(`set statement_timeout = ${Math.max(1, Math.ceil(budget_ms))}`));
    if (isFirst && ownOutput(await session.run(WRITES_OPTIONS)).trim() === "t") return null;
    return {
      objects: await session.run(isFirst ? EARLIER_OBJECTS : RESTORED_OBJECTS),
      more: expected.version < 3 ? [] : await moreRestored(session, expected.version),
      extensions: await session.run(EXTENSIONS),
    };
  });
  if (listed === null) return [];
  // Without an answer in time nothing is known about the objects. The receipt shows this by
  // having no such check.
  const { objects, more } = listed;
  if (isTimedOut(objects) || more === null) return [];
  const hasUnrestored = expectedObjects(metadata, "unrestored") !== null;
  const all = [...listedLike(expected, hasUnrestored, objects, key), ...more];
  const found = expected.version < 5 ? withEarlierNames(all) : all;
  return [
    compareObjects(found, { ...expected, leftOut: [] }, key, {
      of,
      duration_ms: performance.now() - started,
      words: OBJECTS_WORDS,
      isExact: expected.version !== 1,
      notLookedAt: [
        ...leftOutAtSource(expected),
        ...unrestoredNotCompared(metadata, loaded),
        ...ownersNotCompared(metadata, loaded),
        ...loaded.notBuilt,
        ...otherVersions(metadata["extensions"], rowsOf(ownOutput(listed.extensions))),
      ],
    }),
  ];
}

/** The objects of the copy that such a backup lists too. */
function listedLike(
  expected: ExpectedObjects,
  hasUnrestored: boolean,
  listed: Statement,
  key: Buffer,
): readonly DatabaseObject[] {
  const output = ownOutput(listed);
  if (expected.version === 1) return listedThen(earlierObjects(output), expected, key);
  const objects = databaseObjects(output);
  return hasUnrestored ? objects.filter((object) => !isUnrestored(object)) : objects;
}

/** No check if owners and grants are not known on both sides. */
function comparePrivileges({ of, loaded }: Copy, { metadata, key }: ContentComparison): CheckOutcome[] {
  const known = knownPrivileges(metadata, loaded);
  if (known === null) return [];
  const started = performance.now();
  const lacksPublic = metadata["lacks_public"] === true;
  const found = known.found.filter(
    (each) => !isOfType(each) && (!lacksPublic || each.name !== "schema public"),
  );
  const context = { of, words: PRIVILEGES_WORDS, what: "privileges" as const };
  return [
    compareObjects(found, known.expected, key, { ...context, duration_ms: performance.now() - started }),
  ];
}

/** No check if there is nothing to compare. */
function compareUnrestored({ of, loaded }: Copy, { metadata, key }: ContentComparison): CheckOutcome[] {
  const known = knownUnrestored(metadata, loaded);
  if (known === null) return [];
  const { expected, found } = known;
  const started = performance.now();
  const context = { of, words: UNRESTORED_WORDS, what: "unrestored" as const };
  return [compareObjects(found, expected, key, { ...context, duration_ms: performance.now() - started })];
}

async function compareTables(
  { server, environment, of, loaded, inSession }: Copy,
  { metadata, key, budget_ms, signal }: ContentComparison,
): Promise<readonly CheckOutcome[]> {
  const expected = expectedRows(metadata);
  if (expected === null) return [];
  const tables = await inSession(signal, async (session) =>
    catalogueTables(ownOutput(await session.run(RESTORED_CONTENT_TABLES))),
  );
  const restored = { server, environment, of, tables, keepsOrder: loaded.keepsOrder };
  const outcome = await compareContent(restored, expected, { key, budget_ms, signal });
  return outcome === null ? [] : [outcome];
}

/**
 * Compares a copy with the dump of another program. Nothing else is known about such a dump.
 * @throws RunError
 */
export async function compareWithDump(
  { server, environment, loaded, inSession }: Copy,
  dump: ArchiveContent,
  { metadata, key, budget_ms, signal }: ContentComparison,
): Promise<readonly CheckOutcome[]> {
  const [tables, uncertain] = await inSession(signal, async (session) => [
    catalogueTables(ownOutput(await session.run(RESTORED_CONTENT_TABLES))),
    new Map(
      rowsOf(ownOutput(await session.run(UNCERTAIN_TABLES))).map(([table = "", why = ""]) => [table, why]),
    ),
  ]);
  const version = recordOf(metadata["original"])["server_version"];
  const isLike = majorOf(version) === majorOf(server.runtime.engine_version);
  const restored = { server, environment, of: null, tables, keepsOrder: loaded.keepsOrder };
  const outcome = await compareDump(restored, dump, {
    whyUncertain: (table) => (isLike ? (uncertain.get(table) ?? null) : "other_release"),
    key,
    budget_ms,
    signal,
  });
  return outcome === null ? [] : [outcome];
}
