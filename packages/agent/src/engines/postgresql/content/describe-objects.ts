import {
  type DatabaseObject,
  exactObjectsMetadata,
  type ExactObjectsMetadata,
} from "../../content/tagged-objects.ts";
import {
  dumpedPrivileges,
  isGrantOfType,
  TYPE_GRANTS_LEFT_OUT,
  isOfLargeObject,
  HAS_LARGE_OBJECTS,
  LARGE_OBJECTS_LEFT_OUT,
  LIST_PRIVILEGES,
  privilegesOf,
} from "../privileges/list-privileges.ts";
import { HAS_OTHERS_GRANTS, othersGrantsOf } from "../privileges/others-grants.ts";
import type { PreparedTransactions } from "../../content/prepared-transactions.ts";
import type { PsqlSession } from "../connection/psql-session.ts";
import type { SequenceValue } from "./copy-digests.ts";
import {
  LIST_SUBSCRIPTIONS,
  listUnrestored,
  unrestoredOf,
  WHO_SEES_SUBSCRIPTIONS,
} from "../unrestored/list-unrestored.ts";
import { type DumpedBy, isUnrestored, notLookedFor, SUBSCRIPTION } from "../unrestored/unrestored-objects.ts";
import { rowsOf } from "../schema.ts";
import { majorOf } from "../connection/version.ts";
import { MORE_KINDS, MORE_OBJECTS, sequenceStart, undumpedText, valueDefinition } from "./more-objects.ts";
import {
  databaseObjects,
  sequenceName,
  SEQUENCE_VALUE,
  SOURCE_OBJECTS,
  withEarlierNames,
} from "./objects.ts";

const LISTING_MS = 60_000;
/** A view that is being changed is locked. pg_dump may wait for it, but this must not. */
const LOCKED_MS = 2_000;

/** Each list is null if it is unknown. */
export interface ListedObjects {
  readonly objects: readonly DatabaseObject[] | null;
  /** Those of `more-objects.ts`, which only the third version lists. */
  readonly more: readonly DatabaseObject[] | null;
  readonly privileges: readonly DatabaseObject[] | null;
  readonly unrestored: Unrestored | null;
  /** Whether the source has large objects and `privileges` has none of them. */
  readonly hasMoreLargeObjects: boolean;
  /** Whether a function that a range type brings with it has grants of its own. */
  readonly hasTypeGrants: boolean;
  /** See `othersGrantsOf`. */
  readonly othersGrants: readonly string[];
  readonly prepared: PreparedTransactions;
}

/** The source's objects that a restore test does not create. */
export interface Unrestored {
  readonly objects: readonly DatabaseObject[];
  /** Kinds of which the source has some, and a restore test finds none in the dump. */
  readonly leftOut: readonly string[];
}

export const NOTHING_LISTED: ListedObjects = {
  objects: null,
  more: null,
  privileges: null,
  unrestored: null,
  hasMoreLargeObjects: false,
  hasTypeGrants: false,
  othersGrants: [],
  prepared: "unseen",
};

/**
 * Lists the objects of the open transaction's database; null if the server does not list them in
 * time. The transaction stays open in both cases.
 */
export async function listObjects(
  session: PsqlSession,
  version: string,
  dump: DumpedBy,
): Promise<ListedObjects> {
  const list = async <Listed>(sql: string, read: (output: string) => Listed): Promise<Listed | null> => {
    await session.run("savepoint objects");
    await session.run(`set local statement_timeout = ${LISTING_MS}; set local lock_timeout = ${LOCKED_MS}`);
    const listed = await session.run(sql);
    await session.run("rollback to savepoint objects");
    return listed.ok ? read(listed.output) : null;
  };
  const objects = await list(SOURCE_OBJECTS, databaseObjects);
  const more = await list(MORE_OBJECTS, databaseObjects);
  const all = await list(LIST_PRIVILEGES, privilegesOf);
  const privileges = all === null ? null : dumpedPrivileges(all, dump.major);
  const [[hasLargeObjects] = []] = (await list(HAS_LARGE_OBJECTS, rowsOf)) ?? [];
  const othersGrants = await list(HAS_OTHERS_GRANTS, othersGrantsOf);
  const [[prepared = "unseen"] = []] = (await list(PREPARED, rowsOf)) ?? [];
  return {
    objects,
    more,
    privileges: hasLargeObjects === undefined || othersGrants === null ? null : privileges,
    unrestored: await unrestored(list, majorOf(version), dump),
    hasTypeGrants: all?.some(isGrantOfType) === true,
    othersGrants: othersGrants ?? [],
    hasMoreLargeObjects: hasLargeObjects === "true" && privileges?.some(isOfLargeObject) !== true,
    // The query names it itself.
    prepared: prepared as PreparedTransactions,
  };
}

/** Of this database. A standby has them, and shows them once it is a primary. */
const PREPARED = `
  select json_build_array(case when exists (select from pg_prepared_xacts where database = current_database()) then 'some'
    when pg_is_in_recovery() and current_setting('max_prepared_transactions')::int > 0 then 'unseen' else 'none' end)`;

async function unrestored(
  list: <Listed>(sql: string, read: (output: string) => Listed) => Promise<Listed | null>,
  major: number,
  dump: DumpedBy,
): Promise<Unrestored | null> {
  const all = await list(listUnrestored(major), unrestoredOf);
  const [[isSuperuser, areSome] = []] = (await list(WHO_SEES_SUBSCRIPTIONS, rowsOf)) ?? [];
  if (all === null || isSuperuser === undefined) return null;
  const apart = notLookedFor(dump);
  const others = all.filter(({ kind }) => !apart.has(kind));
  const leftOut = [...apart].filter((each) => all.some(({ kind }) => kind === each));
  // pg_dump too includes subscriptions only for a superuser.
  if (isSuperuser !== "on")
    return { objects: others, leftOut: areSome === "true" ? [...leftOut, SUBSCRIPTION] : leftOut };
  const subscriptions = await list(LIST_SUBSCRIPTIONS, unrestoredOf);
  return subscriptions === null ? null : { objects: [...others, ...subscriptions], leftOut };
}

/**
 * Combines what was listed before and after the dump; null if the two differ, because the dump may
 * contain either. Sequences get the dump's values. If only `more-objects.ts` is not known, this is
 * the second version, which a test compares without it, and names what it lacks.
 */
export function describeObjects(
  before: Pick<ListedObjects, "objects" | "more">,
  after: Pick<ListedObjects, "objects" | "more">,
  sequences: readonly SequenceValue[] | null,
  key: Buffer,
): ExactObjectsMetadata | null {
  if (sequences === null) return null;
  const listed = unchanged(before.objects, after.objects);
  const more = unchanged(before.more, after.more);
  if (listed === null) return null;
  const values = new Map(sequences.map((each) => [sequenceName(each.schema, each.sequence), each]));
  const inDump = listed.flatMap((object) => {
    if (object.kind !== SEQUENCE_VALUE) return [object];
    const sequence = values.get(object.name);
    if (sequence === undefined) return [];
    const valued = { ...object, definition: valueDefinition(sequence.value ?? "") };
    return sequence.start === null || more === null
      ? [valued]
      : [valued, sequenceStart(object.name, sequence.start)];
  });
  if (more === null)
    return {
      ...exactObjectsMetadata(withEarlierNames(inDump), key),
      left_out: MORE_KINDS.map((kind) => [kind, null] as const),
    };
  const dumped = more.filter(({ kind }) => undumpedText(kind) === null);
  const undumped = new Set(more.flatMap(({ kind }) => (undumpedText(kind) === null ? [] : [kind])));
  const signed = { ...exactObjectsMetadata([...inDump, ...dumped], key), v: 5 as const };
  return undumped.size === 0
    ? signed
    : { ...signed, left_out: [...undumped].map((kind) => [kind, null] as const) };
}

/** The same for owners and grants. */
export function describePrivileges(
  before: ListedObjects,
  after: ListedObjects,
  key: Buffer,
): ExactObjectsMetadata | null {
  const listed = unchanged(before.privileges, after.privileges);
  if (listed === null) return null;
  const left_out = [
    ...(after.hasMoreLargeObjects ? [LARGE_OBJECTS_LEFT_OUT] : []),
    ...(before.hasTypeGrants || after.hasTypeGrants ? [TYPE_GRANTS_LEFT_OUT] : []),
    ...[...new Set([...before.othersGrants, ...after.othersGrants])].map((kind) => [kind, null] as const),
  ];
  const signed = { ...exactObjectsMetadata(listed, key), v: 8 as const };
  return left_out.length === 0 ? signed : { ...signed, left_out };
}

/** The same for objects that a restore test does not create. */
export function describeUnrestored(
  before: Unrestored | null,
  after: Unrestored | null,
  key: Buffer,
): ExactObjectsMetadata | null {
  const listed = unchanged(before?.objects ?? null, after?.objects ?? null);
  if (listed === null) return null;
  const left_out = (after?.leftOut ?? []).map((kind) => [kind, null] as const);
  const signed = { ...exactObjectsMetadata(listed, key), v: 5 as const };
  return left_out.length === 0 ? signed : { ...signed, left_out };
}

/** Without the objects that `unrestored` lists. */
export function withoutUnrestored(listed: ListedObjects): ListedObjects {
  return { ...listed, objects: listed.objects?.filter((object) => !isUnrestored(object)) ?? null };
}

/** What was listed, if it is the same before and after the dump. */
export function unchanged(
  before: readonly DatabaseObject[] | null,
  after: readonly DatabaseObject[] | null,
): readonly DatabaseObject[] | null {
  if (before === null || after === null) return null;
  return listing(before) === listing(after) ? before : null;
}

function listing(objects: readonly DatabaseObject[]): string {
  return objects
    .map(({ kind, name, definition }) => JSON.stringify([kind, name, definition]))
    .toSorted()
    .join("\n");
}
