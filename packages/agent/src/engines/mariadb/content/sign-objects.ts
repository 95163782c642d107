import { OBJECTS_VERSION } from "./expected-objects.ts";
import type { ListedObjects } from "./list-objects.ts";
import { NOT_COMPARED } from "./not-looked-at.ts";
import {
  type DatabaseObject,
  exactObjectsMetadata,
  type ExactObjectsMetadata,
} from "../../content/tagged-objects.ts";

/** More objects, or a longer name, and nothing of their kind is compared. */
const MAX_LEFT_OUT = 20;
const MAX_NAME = 200;

/**
 * The objects as they were before the dump began and after it ended. What changed meanwhile is left
 * out, because nobody knows which of the two the dump has, and so is what is not compared, and the
 * kinds that were not listed both times. Null if nothing was.
 */
export function signObjects(
  listedBefore: ListedObjects | null,
  listedAfter: ListedObjects | null,
  key: Buffer,
): ExactObjectsMetadata | null {
  if (listedBefore === null || listedAfter === null) return null;
  const unlisted = new Set([...listedBefore.unlisted, ...listedAfter.unlisted]);
  const isListed = ({ kind }: DatabaseObject): boolean => !unlisted.has(kind);
  const before = listedBefore.objects.filter(isListed);
  const after = listedAfter.objects.filter(isListed);
  if (before.length === 0) return null;
  const changed = changes(before, after);
  for (const { kind, name, definition } of before)
    if (definition === NOT_COMPARED) changed.set(kind, (changed.get(kind) ?? new Set<string>()).add(name));
  const leftOut = [
    ...[...unlisted].map((kind) => [kind, null] as const),
    ...[...changed].flatMap(([kind, names]): (readonly [string, string | null])[] => {
      const isTooMuch = names.size > MAX_LEFT_OUT || [...names].some((name) => name.length > MAX_NAME);
      return isTooMuch ? [[kind, null]] : [...names].map((name) => [kind, name] as const);
    }),
  ];
  const whole = new Set(leftOut.flatMap(([kind, name]) => (name === null ? [kind] : [])));
  const known = before.filter(({ kind, name }) => !whole.has(kind) && changed.get(kind)?.has(name) !== true);
  return {
    ...exactObjectsMetadata(known, key),
    v: OBJECTS_VERSION,
    ...(leftOut.length === 0 ? {} : { left_out: leftOut }),
  };
}

function changes(
  before: readonly DatabaseObject[],
  after: readonly DatabaseObject[],
): Map<string, Set<string>> {
  const keyOf = ({ kind, name, definition }: DatabaseObject): string =>
    JSON.stringify([kind, name, definition]);
  const [older, newer] = [new Set(before.map(keyOf)), new Set(after.map(keyOf))];
  const changed = new Map<string, Set<string>>();
  for (const object of [...before, ...after]) {
    const { kind, name } = object;
    if (older.has(keyOf(object)) && newer.has(keyOf(object))) continue;
    changed.set(kind, (changed.get(kind) ?? new Set<string>()).add(name));
  }
  return changed;
}
