import type { SchemaChanges } from "./changes.ts";

/**
 * What PostgreSQL agents send as `other_objects` with a backup: triggers, functions, grants and
 * more, which no schema hash has.
 */
export interface OtherObjects {
  sha256: string;
  /** How many there are of each kind. */
  kinds: Record<string, number>;
}

const KIND = /^[a-z_]{1,40}$/;
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
  return { sha256, kinds: Object.fromEntries(counts.slice(0, MAX_KINDS)) };
}

/**
 * Names that only one of two backups has, as far as the other names all of that kind: one that it
 * has no room for may exist all the same. Of a kind that one of them does not name whole, both
 * numbers are told: `grant (9, now 8)`. Null if one of the two has none of it.
 */
export function otherChanges(before: unknown, after: unknown): SchemaChanges | null {
  const [old, now] = [namesIn(before), namesIn(after)];
  if (old === null || now === null) return null;
  const kinds = [...new Set([...old.counts.keys(), ...now.counts.keys()])];
  return {
    added: namesOnlyIn(now, old),
    removed: namesOnlyIn(old, now),
    altered: kinds.flatMap((kind) => {
      const [was, is] = [old.counts.get(kind) ?? 0, now.counts.get(kind) ?? 0];
      return was === is || (old.hasAll(kind) && now.hasAll(kind)) ? [] : [`${kind} (${was}, now ${is})`];
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

interface Names {
  /** By kind. */
  of: Map<string, Set<string>>;
  counts: Map<string, number>;
  /** Whether all of a kind are named. */
  hasAll: (kind: string) => boolean;
}

function namesIn(value: unknown): Names | null {
  const known = otherObjectsIn(value);
  if (known === null || !isRecord(value) || !Array.isArray(value["named"])) return null;
  const of = new Map<string, Set<string>>();
  for (const entry of value["named"] as unknown[]) {
    const [kind, name] = Array.isArray(entry) ? (entry as unknown[]) : [];
    if (typeof kind !== "string" || typeof name !== "string" || !KIND.test(kind)) return null;
    of.set(kind, (of.get(kind) ?? new Set<string>()).add(name));
  }
  // A map, because an agent may call a kind `constructor`.
  const counts = new Map(Object.entries(known.kinds));
  return { of, counts, hasAll: (kind) => (of.get(kind)?.size ?? 0) >= (counts.get(kind) ?? 0) };
}

function namesOnlyIn(here: Names, there: Names): string[] {
  return [...here.of].flatMap(([kind, names]) =>
    there.hasAll(kind)
      ? [...names].filter((name) => there.of.get(kind)?.has(name) !== true).map((name) => `${kind} ${name}`)
      : [],
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
