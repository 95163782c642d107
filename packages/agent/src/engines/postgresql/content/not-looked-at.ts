import { plural } from "@attestore/proof";
import type { AbsentObjects, WhyAbsent } from "../../content/absent-objects.ts";
import { type ExpectedObjects, expectedObjects } from "../../content/compare-objects.ts";
import { recordOf } from "../../content/expected-content.ts";
import { preparedText } from "../../content/prepared-transactions.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import type { ForeignMetadata } from "../../engine.ts";
import { isOfType, unlistedBy } from "../privileges/list-privileges.ts";
import type { Loaded } from "../restore/run-pg-restore.ts";
import { unrestoredUnlistedBy } from "../unrestored/unrestored-objects.ts";
import { undumpedText } from "./more-objects.ts";

/** What is compared apart from the copy's objects, and what their check names in its place. */

/** The names of all the kinds that a source did not list would not fit into a receipt. */
export function leftOutAtSource({ leftOut }: ExpectedObjects): string[] {
  const all = leftOut.map(([kind]) => kind);
  const prepared = all.map(ofServerText).filter((text) => text !== null);
  const kinds = all.filter((kind) => ofServerText(kind) === null);
  if (kinds.length === 0) return prepared;
  const undumped = kinds.map(undumpedText).filter((text) => text !== null);
  return undumped.length === kinds.length
    ? [...undumped, ...prepared]
    : [`objects of ${plural(kinds.length, "kind")} such as conversions and languages`, ...prepared];
}

/** What a server has beside the database's own objects. */
function ofServerText(kind: string): string | null {
  return kind === "closed_database" ? "databases that accept no connections" : preparedText(kind);
}

/**
 * A dump does not name an extension's version: a restore gets the version that is installed. So
 * another version fails no test.
 */
export function otherVersions(signed: unknown, found: readonly (readonly string[])[]): string[] {
  const here = new Map(found.map(([name = "", version = ""]) => [name, version]));
  return (Array.isArray(signed) ? (signed as unknown[]) : []).flatMap((each) => {
    const { name, version } = recordOf(each);
    const own = typeof name === "string" ? here.get(name) : undefined;
    // A missing extension is reported as a missing object.
    if (own === undefined || typeof version !== "string" || own === version) return [];
    return [`the version of extension ${String(name)} (${own} here and ${version} at the source)`];
  });
}

interface Known {
  readonly expected: ExpectedObjects;
  readonly found: readonly DatabaseObject[];
}

/** Owners and grants, as the source and the dump have them; null if one of them is unknown. */
export function knownPrivileges(metadata: ForeignMetadata, { privileges: found }: Loaded): Known | null {
  const expected = expectedObjects(metadata, "privileges");
  if (expected === null || found === null) return null;
  // An earlier agent signed owners that depend on the name of the server's first superuser.
  if (expected.version < 4 && found.some(isOfType)) return null;
  return { expected: withoutUnlisted(expected, unlistedBy(expected.version)), found };
}

export function ownersNotCompared(metadata: ForeignMetadata, loaded: Loaded): string[] {
  if (knownPrivileges(metadata, loaded) !== null) return [];
  return [`owners and grants${because(metadata, "privileges")}`];
}

/** The same for what a test does not restore. Null, too, if neither of them has any. */
export function knownUnrestored(metadata: ForeignMetadata, loaded: Loaded): Known | null {
  const expected = expectedUnrestored(metadata);
  const found = expected === null ? null : foundUnrestored(expected, loaded);
  return expected === null || found === null || expected.count + found.length === 0
    ? null
    : { expected, found };
}

/** Names what `knownUnrestored` has not. */
export function unrestoredNotCompared(metadata: ForeignMetadata, loaded: Loaded): string[] {
  const expected = expectedUnrestored(metadata);
  if (expected === null)
    return [`publications and other objects that a test does not restore${because(metadata, "unrestored")}`];
  if (knownUnrestored(metadata, loaded) !== null) return [];
  const isUnknown = loaded.unrestored === null;
  const hidden = expected.leftOut.map(([kind]) => kind);
  const kinds = new Set([...(isUnknown ? expected.kinds.keys() : []), ...hidden]);
  const named = [...kinds].filter((kind) => kind !== "owner" && kind !== "comment");
  if (named.length === 0 && expected.count > 0) return [`${expected.count} that only the dump holds`];
  return named.map((kind) => `all of the kind ${kind.replaceAll("_", " ")}`);
}

function expectedUnrestored(metadata: ForeignMetadata): ExpectedObjects | null {
  const expected = expectedObjects(metadata, "unrestored");
  return expected === null ? null : withoutUnlisted(expected, unrestoredUnlistedBy(expected.version));
}

/** Those of the dump that such a backup lists too; null if the dump's are unknown. */
function foundUnrestored(
  { version }: ExpectedObjects,
  { unrestored }: Loaded,
): readonly DatabaseObject[] | null {
  const unlisted = new Set(unrestoredUnlistedBy(version));
  return unrestored?.filter(({ kind }) => !unlisted.has(kind)) ?? null;
}

/** An earlier agent did not list these kinds. */
function withoutUnlisted(expected: ExpectedObjects, kinds: readonly string[]): ExpectedObjects {
  return { ...expected, leftOut: [...expected.leftOut, ...kinds.map((kind) => [kind, null] as const)] };
}

const BECAUSE: Readonly<Record<WhyAbsent, string>> = {
  changed: " (they changed during the dump)",
  not_listed: " (the source did not list them in time)",
};

/** We received the metadata: empty if they do not say why. */
function because(metadata: ForeignMetadata, what: keyof AbsentObjects): string {
  const why = recordOf(recordOf(metadata["content"])["absent"])[what];
  return why === "changed" || why === "not_listed" ? BECAUSE[why] : "";
}
