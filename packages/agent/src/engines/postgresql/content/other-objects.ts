import { createHash, createHmac } from "node:crypto";
import { contentTag } from "../../content/content-tag.ts";
import { type DatabaseObject, taggedKinds } from "../../content/tagged-objects.ts";
import type { SourceMetadata } from "../../engine.ts";
import { OBJECT_NAMES } from "./objects.ts";
import { MAX_SUMMARY_BYTES, type SchemaSummary } from "../../schema.ts";
import { COUNT_GRANTS, grantsIn } from "../privileges/count-grants.ts";
import type { PsqlSession } from "../connection/psql-session.ts";
import { majorOf } from "../connection/version.ts";
import { rowsOf } from "../schema.ts";

/**
 * Signed in a backup's metadata, so that the next backup shows what the source lost: what the
 * schema hash does not have. Definitions may hold secrets, so they are there only as tags.
 */
export interface OtherObjects {
  /** Over all of these, in hex. */
  readonly sha256: string;
  /** How many there are of each kind; `grant` counts rights, which have no names. */
  readonly kinds: Readonly<Record<string, number>>;
  /** As many as fit, those of the smallest kinds first, sorted by name. */
  readonly named: readonly Named[];
  /** Absent where the definitions are not known. */
  readonly definitions?: Definitions;
}

/** Also with the tag of its definition, where `definitions` is known. */
type Named = readonly [kind: string, name: string, tag?: string];

interface Definitions {
  /** Which key the tags are made with. Tags of another one cannot be compared. */
  readonly key: string;
  /** Of a kind, one tag over the tags of all its objects, also of those that are not named. */
  readonly kinds: Readonly<Record<string, string>>;
}

const MAX_BYTES = 12 * 1024;
const MAX_NAME = 200;
/** Hex digits of a tag: 64 bits, which nobody can search for without the key. */
const TAG = 16;
const GRANT = "grant";
/** Otherwise a source with very many objects would wait for its dump. */
const LISTING_MS = 10_000;

/**
 * Lists them in the open transaction, which stays open; null if the server does not in time: a dump
 * must not fail for that.
 */
export async function listOtherObjects(
  session: PsqlSession,
  summary: SchemaSummary,
): Promise<OtherObjects | null> {
  await session.run("savepoint others");
  await session.run(`set local statement_timeout = ${LISTING_MS}`);
  const names = await session.run(OBJECT_NAMES);
  const grants = names.ok ? await session.run(COUNT_GRANTS) : names;
  await session.run("rollback to savepoint others");
  if (!names.ok || !grants.ok) return null;
  const objects = rowsOf(names.output).map(([kind = "", name = ""]): Named => [kind, name]);
  return describeOthers(objects, grantsIn(grants.output), summary);
}

/** The names get the room that the schema's summary leaves. */
export function describeOthers(
  objects: readonly Named[],
  grants: number,
  summary: SchemaSummary,
): OtherObjects {
  const kinds = new Map<string, number>();
  for (const [kind] of objects) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  if (grants > 0) kinds.set(GRANT, grants);
  const lines = [...objects, [GRANT, String(grants)]].map((each) => JSON.stringify(each)).toSorted();
  return {
    sha256: createHash("sha256").update(lines.join("\n")).digest("hex"),
    kinds: Object.fromEntries([...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    named: fitting(objects, kinds, roomBeside(summary)),
  };
}

/**
 * Adds the definitions to what `listOtherObjects` described. Each version of PostgreSQL prints them
 * in its own way, so each has a key of its own.
 */
export function withDefinitions(
  metadata: SourceMetadata,
  listed: readonly DatabaseObject[],
  sourceKey: Buffer,
): SourceMetadata {
  const others = metadata["other_objects"] as OtherObjects | undefined;
  if (others === undefined) return metadata;
  const version = `postgresql ${majorOf(metadata.engine_version)}`;
  const key = createHmac("sha256", sourceKey).update(version).digest();
  const kinds = taggedKinds(
    listed.filter(({ kind }) => Object.hasOwn(others.kinds, kind)),
    key,
  );
  const tags = new Map([...kinds].map(([kind, own]) => [kind, new Map(own)]));
  const named = others.named.map(([kind, name]): Named => {
    const tag = tags.get(kind)?.get(name);
    return tag === undefined ? [kind, name] : [kind, name, tag.slice(0, TAG)];
  });
  // Some kinds are listed with more than what is named, which the schema hash has. Then the tag is
  // over those that are named, if these are all.
  const names = new Set(others.named.map(([kind, name]) => JSON.stringify([kind, name])));
  const whole = [...kinds]
    .map(([kind, own]) => {
      const isMore = own.length > (others.kinds[kind] ?? 0);
      return [kind, isMore ? own.filter(([name]) => names.has(JSON.stringify([kind, name]))) : own] as const;
    })
    .filter(([kind, own]) => own.length === others.kinds[kind]);
  const definitions: Definitions = {
    key: contentTag(key, ["key"]).slice(0, TAG),
    kinds: Object.fromEntries(
      whole.map(([kind, own]) => [kind, contentTag(key, own.toSorted(byName)).slice(0, TAG)]),
    ),
  };
  const summary = metadata["schema_summary"] as SchemaSummary;
  const sizes = new Map(Object.entries(others.kinds));
  return {
    ...metadata,
    other_objects: { ...others, named: fitting(named, sizes, roomBeside(summary)), definitions },
  };
}

/** Those of several databases, whose names `nameIn` changes; null if one is not known. */
export function joinOthers(
  databases: readonly { readonly name: string; readonly others: OtherObjects | undefined }[],
  nameIn: (database: string, name: string) => string,
  summary: SchemaSummary,
): OtherObjects | null {
  const kinds = new Map<string, number>();
  const objects: Named[] = [];
  const lines: string[] = [];
  for (const { name, others } of databases) {
    if (others === undefined) return null;
    for (const [kind, count] of Object.entries(others.kinds)) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
    for (const [kind, own, ...tag] of others.named) objects.push([kind, nameIn(name, own), ...tag]);
    lines.push(JSON.stringify([name, others.sha256]));
  }
  return {
    sha256: createHash("sha256").update(lines.toSorted().join("\n")).digest("hex"),
    kinds: Object.fromEntries([...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    named: fitting(objects, kinds, roomBeside(summary)),
    ...joinDefinitions(databases),
  };
}

/** Only if they are known of each database, under one key. */
function joinDefinitions(
  databases: readonly { readonly name: string; readonly others: OtherObjects | undefined }[],
): { readonly definitions?: Definitions } {
  const of = databases.map(({ name, others }) => ({ name, definitions: others?.definitions }));
  const key = of[0]?.definitions?.key;
  if (key === undefined || of.some(({ definitions }) => definitions?.key !== key)) return {};
  const kinds = new Map<string, [database: string, tag: string][]>();
  for (const { name, definitions } of of)
    for (const [kind, tag] of Object.entries(definitions?.kinds ?? {}))
      kinds.set(kind, [...(kinds.get(kind) ?? []), [name, tag]]);
  // One that only some of them have a tag of is left out: which ones may be others the next time.
  for (const { others } of databases)
    for (const kind of Object.keys(others?.kinds ?? {}))
      if (others?.definitions?.kinds[kind] === undefined) kinds.delete(kind);
  const digest = (tags: readonly (readonly [string, string])[]): string =>
    createHash("sha256")
      .update(JSON.stringify(tags.toSorted(byName)))
      .digest("hex")
      .slice(0, TAG);
  return {
    definitions: { key, kinds: Object.fromEntries([...kinds].map(([kind, tags]) => [kind, digest(tags)])) },
  };
}

const byName = (one: readonly [string, string], other: readonly [string, string]): number =>
  compare(one[0], other[0]) || compare(one[1], other[1]);

function roomBeside(summary: SchemaSummary): number {
  return Math.min(MAX_BYTES, MAX_SUMMARY_BYTES - Buffer.byteLength(JSON.stringify(summary)));
}

/**
 * A reader knows by the number whether all of a kind are named, so a kind of thousands does not
 * take the room of the few triggers.
 */
function fitting(objects: readonly Named[], kinds: ReadonlyMap<string, number>, bytes: number): Named[] {
  const sizeOf = ([kind]: Named): number => kinds.get(kind) ?? 0;
  let room = bytes;
  return objects
    .toSorted((a, b) => sizeOf(a) - sizeOf(b) || compare(a[0], b[0]) || compare(a[1], b[1]))
    .filter((each) => {
      if (each[1].length > MAX_NAME || room < 0) return false;
      room -= Buffer.byteLength(JSON.stringify(each)) + 1;
      return room >= 0;
    });
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
