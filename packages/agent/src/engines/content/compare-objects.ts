import type { CheckOutcome } from "@attestore/proof";
import { objectsCheck, type ObjectsGroup, type ObjectsWords } from "../../checks/index.ts";
import type { ForeignMetadata } from "../engine.ts";
import { contentDigest } from "./content-digest.ts";
import { recordOf } from "./expected-content.ts";
import {
  countOf,
  type DatabaseObject,
  type ExactObjectsMetadata,
  objectsDigest,
  taggedKinds,
  type TaggedKinds,
} from "./tagged-objects.ts";

/** What a backup's metadata say about the objects. */
export interface ExpectedObjects {
  /** 2 and more for `ExactObjectsMetadata`. */
  readonly version: 1 | ExactObjectsMetadata["v"];
  readonly count: number;
  readonly sha256: string;
  /** Empty if only the digest over everything is known. */
  readonly kinds: ReadonlyMap<string, { readonly count: number; readonly sha256: string }>;
  /** The beginning of the tag, by kind and name. */
  readonly named: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** See `ObjectsMetadata`. */
  readonly leftOut: readonly (readonly [kind: string, name: string | null])[];
}

/** A later agent's version may mean anything, so it is not compared. */
const VERSIONS: Readonly<Record<ObjectsGroup, readonly ExpectedObjects["version"][]>> = {
  objects: [1, 2, 3, 4, 5],
  privileges: [1, 2, 3, 4, 5, 6, 7, 8],
  unrestored: [1, 2, 3, 4, 5],
  globals: [2],
};

const SHA256 = /^[0-9a-f]{64}$/;
const KIND = /^[a-z_]{1,40}$/;

/**
 * We received the metadata: null if they contain nothing to compare with. `versions`: those that
 * this agent knows, if the engine has others than most.
 */
export function expectedObjects(
  metadata: ForeignMetadata,
  what: ObjectsGroup = "objects",
  versions: readonly ExpectedObjects["version"][] = VERSIONS[what],
): ExpectedObjects | null {
  const signed = recordOf(recordOf(metadata["content"])[what]);
  const { v, sha256, kinds, named, left_out } = signed;
  const version = versions.find((each) => each === (v ?? 1));
  if (version === undefined) return null;
  const count = signed[version === 1 ? "count" : "total"];
  if (!isCount(count) || typeof sha256 !== "string" || !SHA256.test(sha256)) return null;
  const ofKinds = Object.entries(recordOf(kinds)).map(([kind, value]) => ({ kind, ...recordOf(value) }));
  const tags = new Map<string, Map<string, string>>();
  for (const entry of Array.isArray(named) ? (named as unknown[]) : []) {
    const [kind, name, tag] = Array.isArray(entry) ? (entry as unknown[]) : [];
    if (typeof kind !== "string" || typeof name !== "string" || typeof tag !== "string") continue;
    tags.set(kind, (tags.get(kind) ?? new Map<string, string>()).set(name, tag));
  }
  return {
    version,
    count,
    sha256,
    kinds: new Map(
      ofKinds.flatMap(({ kind, count: own, sha256: digest }: Readonly<Record<string, unknown>>) =>
        typeof kind === "string" && KIND.test(kind) && isCount(own) && typeof digest === "string"
          ? [[kind, { count: own, sha256: digest }] as const]
          : [],
      ),
    ),
    named: tags,
    leftOut: (Array.isArray(left_out) ? (left_out as unknown[]) : []).flatMap((entry) => {
      const [kind, name] = Array.isArray(entry) ? (entry as unknown[]) : [];
      return typeof kind === "string" && (typeof name === "string" || name === null)
        ? [[kind, name] as const]
        : [];
    }),
  };
}

export interface ObjectsContext {
  readonly of: string | null;
  readonly duration_ms: number;
  readonly words: ObjectsWords;
  /** False if definitions are compared without a part of them; true if absent. */
  readonly isExact?: boolean;
  readonly what?: ObjectsGroup;
  /** What could not be looked at here, besides what the backup left out. */
  readonly notLookedAt?: readonly string[];
}

/** Checks whether the restored copy has exactly the objects that the backup names. */
export function compareObjects(
  restored: readonly DatabaseObject[],
  expected: ExpectedObjects,
  key: Buffer,
  { of, duration_ms, words, isExact = true, what = "objects", notLookedAt = [] }: ObjectsContext,
): CheckOutcome {
  const leftOut = new Set(expected.leftOut.map((each) => JSON.stringify(each)));
  const isLeftOut = ({ kind, name }: DatabaseObject): boolean =>
    leftOut.has(JSON.stringify([kind, name])) || leftOut.has(JSON.stringify([kind, null]));
  const kinds = taggedKinds(
    restored.filter((object) => !isLeftOut(object)),
    key,
  );
  const sha256 = objectsDigest(kinds);
  const differing = sha256 === expected.sha256 ? [] : differences(kinds, expected);
  return objectsCheck({
    ...(of === null ? {} : { of }),
    objects: expected.count,
    found: countOf(kinds),
    differing,
    notCompared: expected.leftOut.map(([kind, name]) =>
      name === null ? `all of the kind ${said(kind)}` : `${said(kind)} ${name}`,
    ),
    notLookedAt,
    sha256,
    signedSha256: expected.sha256,
    duration_ms,
    words,
    isExact,
    what,
  });
}

function differences(kinds: TaggedKinds, expected: ExpectedObjects): string[] {
  const all = new Set([...expected.kinds.keys(), ...(expected.kinds.size === 0 ? [] : kinds.keys())]);
  const found = [...all].flatMap((kind) => {
    const own = kinds.get(kind) ?? [];
    const should = expected.kinds.get(kind) ?? { count: 0, sha256: contentDigest([]) };
    return contentDigest(own) === should.sha256 ? [] : differencesOf(kind, own, should.count, expected);
  });
  return found.length === 0 ? ["an object that the receipt does not name"] : found;
}

function differencesOf(
  kind: string,
  own: TaggedKinds extends ReadonlyMap<string, infer Tags> ? Tags : never,
  count: number,
  { named }: ExpectedObjects,
): string[] {
  const what = said(kind);
  const say = (name: string, how: string): string => `${`${what} ${name}`.trim()} (${how})`;
  const should = named.get(kind) ?? new Map<string, string>();
  const is = new Map(own);
  const changed = [...should].flatMap(([name, tag]) => {
    const found = is.get(name);
    if (found === undefined) return [say(name, "missing")];
    return found.startsWith(tag) ? [] : [say(name, "other")];
  });
  // If all are named, any other name is one too many.
  const extra = should.size < count ? [] : own.filter(([name]) => !should.has(name));
  const all = [...changed, ...extra.map(([name]) => say(name, "not at the source"))];
  return all.length === 0 ? [`one of ${count} of the kind ${what}`] : all;
}

function said(kind: string): string {
  return kind.replaceAll("_", " ");
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
