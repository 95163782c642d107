import type { SchemaChanges } from "./changes.ts";

/**
 * What PostgreSQL agents send as `other_objects` with a backup: triggers, functions, grants and
 * more, which no schema hash has.
 */
export interface OtherObjects {
  sha256: string;
  /** How many there are of each kind. */
  kinds: Record<string, number>;
  /** Null if the agent sent none. */
  definitions: Definitions | null;
}

/** Tags of definitions. Those that another key made cannot be compared. */
export interface Definitions {
  key: string;
  /** One tag over all definitions of a kind. */
  kinds: Record<string, string>;
}

const KIND = /^[a-z_]{1,40}$/;
const TAG = /^[0-9a-f]{16}$/;
const MAX_KINDS = 40;

/** Null if it is missing or has another form: agents may add anything to their metadata. */
export function otherObjectsIn(value: unknown): OtherObjects | null {
  if (!isRecord(value)) return null;
  const { sha256, kinds } = value;
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256) || !isRecord(kinds)) return null;
  const counts = Object.entries(kinds).flatMap(([kind, count]) =>
    KIND.test(kind) && typeof count === "number" && Number.isSafeInteger(count) && count > 0
      ? [[kind, count] as const]
      : [],
  );
  return {
    sha256,
    kinds: Object.fromEntries(counts.slice(0, MAX_KINDS)),
    definitions: definitionsIn(value["definitions"]),
  };
}

function definitionsIn(value: unknown): Definitions | null {
  if (!isRecord(value)) return null;
  const { key, kinds } = value;
  if (!isTag(key) || !isRecord(kinds)) return null;
  const tags = Object.entries(kinds).filter(([kind, tag]) => KIND.test(kind) && isTag(tag));
  return { key, kinds: Object.fromEntries(tags.slice(0, MAX_KINDS)) as Record<string, string> };
}

const isTag = (value: unknown): value is string => typeof value === "string" && TAG.test(value);

/** Whether one of two backups has something that the other lacks, or has in another form. */
export function differ(one: OtherObjects, other: OtherObjects): boolean {
  return one.sha256 !== other.sha256 || kindsDefinedOtherwise(one, other).length > 0;
}

/** None if the two cannot be compared. */
function kindsDefinedOtherwise(one: OtherObjects, other: OtherObjects): string[] {
  const [was, is] = [one.definitions, other.definitions];
  if (was === null || is === null || was.key !== is.key) return [];
  const now = new Map(Object.entries(is.kinds));
  return Object.entries(was.kinds).flatMap(([kind, tag]) =>
    Object.hasOwn(one.kinds, kind) &&
    one.kinds[kind] === other.kinds[kind] &&
    now.has(kind) &&
    now.get(kind) !== tag
      ? [kind]
      : [],
  );
}

/**
 * Names that only one of two backups has, as far as the other names all of that kind: one that it
 * has no room for may exist all the same. Of a kind that one of them does not name whole, both
 * numbers are told: `grant (9, now 8)`. What both have is altered if its definition is another one;
 * if that one has no room for its name, its kind is told: `function (definitions)`. Null if one of
 * the two has none of it.
 */
export function otherChanges(before: unknown, after: unknown): SchemaChanges | null {
  const [old, now] = [namesIn(before), namesIn(after)];
  if (old === null || now === null) return null;
  const kinds = [...new Set([...old.counts.keys(), ...now.counts.keys()])];
  const defined = definedOtherwise(old, now);
  return {
    added: namesOnlyIn(now, old),
    removed: namesOnlyIn(old, now),
    altered: kinds.flatMap((kind) => {
      const [was, is] = [old.counts.get(kind) ?? 0, now.counts.get(kind) ?? 0];
      const counted =
        was === is || (old.hasAll(kind) && now.hasAll(kind)) ? [] : [`${kind} (${was}, now ${is})`];
      return [...counted, ...(defined.get(kind) ?? [])];
    }),
  };
}

/** Of the changes of a schema, those that `otherChanges` found, and the rest. */
export function apart(
  { added, removed, altered }: SchemaChanges,
  ...both: readonly OtherObjects[]
): { others: SchemaChanges; rest: SchemaChanges } {
  const kinds = new Set(both.flatMap((each) => Object.keys(each.kinds)));
  const isOther = (name: string): boolean => kinds.has(name.slice(0, name.indexOf(" ")));
  const only = (isWanted: (name: string) => boolean): SchemaChanges => ({
    added: added.filter(isWanted),
    removed: removed.filter(isWanted),
    altered: altered.filter(isWanted),
  });
  return { others: only(isOther), rest: only((name) => !isOther(name)) };
}

/** By kind. */
function definedOtherwise(old: Names, now: Names): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  const key = old.known.definitions?.key;
  if (key === undefined || now.known.definitions?.key !== key) return found;
  for (const [kind, names] of old.of)
    for (const [name, tag] of names) {
      const is = now.of.get(kind)?.get(name) ?? null;
      if (tag !== null && is !== null && tag !== is)
        found.set(kind, [...(found.get(kind) ?? []), `${kind} ${name}`]);
    }
  for (const kind of kindsDefinedOtherwise(old.known, now.known))
    if (!found.has(kind)) found.set(kind, [`${kind} (definitions)`]);
  return found;
}

interface Names {
  known: OtherObjects;
  /** By kind, each with the tag of its definition. */
  of: Map<string, Map<string, string | null>>;
  counts: Map<string, number>;
  /** Whether all of a kind are named. */
  hasAll: (kind: string) => boolean;
}

function namesIn(value: unknown): Names | null {
  const known = otherObjectsIn(value);
  if (known === null || !isRecord(value) || !Array.isArray(value["named"])) return null;
  const of = new Map<string, Map<string, string | null>>();
  for (const entry of value["named"] as unknown[]) {
    const [kind, name, tag] = Array.isArray(entry) ? (entry as unknown[]) : [];
    if (typeof kind !== "string" || typeof name !== "string" || !KIND.test(kind)) return null;
    of.set(kind, (of.get(kind) ?? new Map<string, string | null>()).set(name, isTag(tag) ? tag : null));
  }
  // A map, because an agent may call a kind `constructor`.
  const counts = new Map(Object.entries(known.kinds));
  return { known, of, counts, hasAll: (kind) => (of.get(kind)?.size ?? 0) >= (counts.get(kind) ?? 0) };
}

function namesOnlyIn(here: Names, there: Names): string[] {
  return [...here.of].flatMap(([kind, names]) =>
    there.hasAll(kind)
      ? [...names.keys()]
          .filter((name) => there.of.get(kind)?.has(name) !== true)
          .map((name) => `${kind} ${name}`)
      : [],
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
