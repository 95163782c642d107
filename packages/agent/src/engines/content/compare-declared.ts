import type { CheckOutcome } from "@attestore/proof";
import type { ObjectsWords } from "../../checks/index.ts";
import { compareObjects } from "./compare-objects.ts";
import { type DatabaseObject, objectsMetadata } from "./tagged-objects.ts";

/** The definition of an object that was only partly read: it is named, never compared. */
export const NOT_READ = "";

export interface DeclaredObjects {
  /** What the text of another program's dump makes. */
  readonly declared: readonly DatabaseObject[];
  /** The same of the restored copy. */
  readonly restored: readonly DatabaseObject[];
  /** Whether the restored copy has to have such an object, if the dump makes it. */
  readonly isCertain: (object: DatabaseObject) => boolean;
  /** Whether a dump from which such an object was restored declares it where it was looked for. */
  readonly isLookedFor: (object: DatabaseObject) => boolean;
}

/**
 * Compares the objects that another program's dump makes with those of the restored copy, one by
 * one. A lost one fails. Nobody knows how that program prints a definition, so only equal ones
 * count as compared, and the others are named. So are those of the copy that were not found in the
 * dump. Null if there is nothing to compare.
 */
export function compareDeclared(
  { declared, restored, isCertain, isLookedFor }: DeclaredObjects,
  key: Buffer,
  {
    notLookedAt = [],
    ...context
  }: {
    readonly words: ObjectsWords;
    readonly duration_ms: number;
    /** What the declared objects leave out, for people. */
    readonly notLookedAt?: readonly string[];
  },
): CheckOutcome | null {
  const found = new Map(numbered(restored).map((each) => [nameOf(each), each]));
  const held: DatabaseObject[] = [];
  const leftOut: [kind: string, name: string][] = [];
  const known = new Set<string>();
  for (const object of numbered(declared)) {
    known.add(nameOf(object));
    const is = found.get(nameOf(object));
    const isEqual = is?.definition === object.definition && object.definition !== NOT_READ;
    const counts = is === undefined ? isCertain(object) : isEqual;
    if (counts) held.push(object);
    else leftOut.push([object.kind, object.name]);
  }
  for (const [name, object] of found)
    if (!known.has(name) && isLookedFor(object)) leftOut.push([object.kind, object.name]);
  if (held.length === 0) return null;
  const names = new Set(held.map(nameOf));
  const { count, sha256, kinds, named } = objectsMetadata(held, key);
  const expected = {
    version: 1 as const,
    count,
    sha256,
    kinds: new Map(Object.entries(kinds)),
    named: tagsByKind(named),
    leftOut,
  };
  const own = [...found.values()].filter((each) => names.has(nameOf(each)));
  const words = { ...context.words, isOfDump: true as const };
  return compareObjects(own, expected, key, { ...context, of: null, words, notLookedAt });
}

function tagsByKind(
  named: readonly (readonly [kind: string, name: string, tag: string])[],
): Map<string, Map<string, string>> {
  const kinds = new Map<string, Map<string, string>>();
  for (const [kind, name, tag] of named)
    kinds.set(kind, (kinds.get(kind) ?? new Map<string, string>()).set(name, tag));
  return kinds;
}

/** Several of the same kind and name, in their order: `shop.t`, `shop.t #2`. */
function numbered(objects: readonly DatabaseObject[]): DatabaseObject[] {
  const times = new Map<string, number>();
  return objects.map((object) => {
    const time = (times.get(nameOf(object)) ?? 0) + 1;
    times.set(nameOf(object), time);
    return time === 1 ? object : { ...object, name: `${object.name} #${time}` };
  });
}

function nameOf({ kind, name }: DatabaseObject): string {
  return JSON.stringify([kind, name]);
}
