import { plural } from "../text/plural.ts";
/** What a check saw, as a restore-test receipt has it. */
interface Observed {
  readonly id: string;
  readonly expectation?: string;
  readonly result?: string;
  readonly observed: Readonly<Record<string, unknown>>;
}

/**
 * How far a restore test compared what came back with what its dump holds, over all of a backup's
 * databases.
 */
export interface ComparedContent {
  /** Tables whose rows were compared. */
  readonly tables: number;
  /** Of those: the ones that hold something else. */
  readonly differing: number;
  /** Tables, columns and other data that were not. */
  readonly notCompared: number;
  /**
   * Indexes, triggers, functions and what else a database has besides rows: how many were compared,
   * and how many of them are missing, different or too many. Null if none were. `notCompared`
   * counts those that changed while the dump was made, and is absent if there are none.
   * `lessExactly` is true if a part of the definitions was left out, as for a backup that an
   * earlier agent made. `notLookedAt` counts what the sandbox could not compare.
   */
  readonly objects: {
    readonly count: number;
    readonly differing: number;
    readonly notCompared?: number;
    readonly notLookedAt?: number;
    readonly lessExactly?: true;
    /** True if they were compared with what another program's dump declares. */
    readonly ofDump?: true;
  } | null;
  /** Objects whose owner and grants were compared; absent if none was. */
  readonly privileges?: { readonly count: number; readonly differing: number };
  /**
   * Publications and whatever else a test does not restore, compared as the dump has it; absent if
   * none was.
   */
  readonly unrestored?: { readonly count: number; readonly differing: number; readonly notCompared: number };
  /**
   * Roles, their passwords, memberships and settings, and what else belongs to a whole server, as
   * the dump has it; absent if none was compared.
   */
  readonly globals?: { readonly count: number; readonly differing: number; readonly notCompared: number };
}

const CONTENT = /^inferred:content(?::|$)/;
const OBJECTS = /^inferred:objects(?::|$)/;
/** The checks of backups that other programs made. */
const FOREIGN: ReadonlySet<string> = new Set(["inferred:data", "inferred:files"]);
const PRIVILEGES = /^inferred:privileges(?::|$)/;
const UNRESTORED = /^inferred:unrestored(?::|$)/;
const GLOBALS = /^inferred:globals$/;
/** A test of a backup with the server's globals has this check too. */
const ROLES = "inferred:roles";
const ATTRIBUTES = "inferred:attributes";

/** As the test's own checks say; null if it compared neither tables nor other objects. */
export function comparedContent(checks: readonly Observed[]): ComparedContent | null {
  const content = checks.filter(({ id }) => CONTENT.test(id));
  const objects = checks.filter(({ id }) => OBJECTS.test(id));
  if (content.length === 0 && objects.length === 0) return null;
  const privileges = checks.filter(({ id }) => PRIVILEGES.test(id));
  const leftOut = sum(objects, "not_compared");
  const notLookedAt = sum(objects, "not_looked_at");
  return {
    tables: sum(content, "tables"),
    differing: sum(content, "differing"),
    notCompared: sum(content, "not_compared"),
    objects:
      objects.length === 0
        ? null
        : {
            count: sum(objects, "objects"),
            differing: sum(objects, "differing"),
            ...(leftOut === 0 ? {} : { notCompared: leftOut }),
            ...(notLookedAt === 0 ? {} : { notLookedAt }),
            ...(objects.some(({ observed }) => observed["less_exactly"] !== undefined)
              ? { lessExactly: true as const }
              : {}),
            ...(objects.some(({ observed }) => observed["compared_with"] === "dump")
              ? { ofDump: true as const }
              : {}),
          },
    ...(privileges.length === 0
      ? {}
      : { privileges: { count: sum(privileges, "objects"), differing: sum(privileges, "differing") } }),
    ...onlyInDump("unrestored", checks, UNRESTORED),
    ...onlyInDump("globals", checks, GLOBALS),
  };
}

/** What was compared as the dump has it, under that name; nothing if there is no such check. */
function onlyInDump<Name extends "unrestored" | "globals">(
  name: Name,
  checks: readonly Observed[],
  ids: RegExp,
): Pick<ComparedContent, Name> {
  const own = checks.filter(({ id }) => ids.test(id));
  if (own.length === 0) return {} as Pick<ComparedContent, Name>;
  return {
    [name]: {
      count: sum(own, "objects"),
      differing: sum(own, "differing"),
      notCompared: sum(own, "not_compared"),
    },
  } as Pick<ComparedContent, Name>;
}

/**
 * For people: `content of 3 tables compared; …`, or `content not compared`. The content of a tree's
 * files is compared by its manifest.
 */
export function comparedContentText(checks: readonly Observed[]): string {
  const manifest = checks.find(({ id }) => id === "inferred:manifest");
  if (manifest !== undefined) return attributesText(checks, manifest.result === "passed");
  const content = comparedContent(checks);
  const why = whyNotCompared(checks);
  if (content === null) return `content not compared${why}`;
  const { tables, differing, notCompared, objects } = content;
  const besidesRows = [
    objectsText(objects, why),
    notLookedAtText(checks, objects?.notLookedAt ?? 0),
    privilegesText(checks, content.privileges),
    unrestoredText(checks, content.unrestored),
    globalsText(checks, content.globals),
  ].join("");
  if (tables === 0) return `${besidesRows}; content not compared`;
  const differs = differing === 0 ? "" : `, ${differing} not what the dump holds`;
  const besides =
    notCompared === 0 ? "" : `; not compared: ${namedText(namesNotCompared(checks), notCompared)}`;
  const rows = `content of ${plural(tables, "table")} compared${differs}${besides}`;
  return `${rows}; ${besidesRows}`;
}

const MAX_NAMED = 5;

/** `a, b and 3 more`: some of them have no name here. */
function namedText(names: readonly string[], count: number): string {
  const shown = names.slice(0, Math.min(MAX_NAMED, count));
  const more = count - shown.length;
  if (shown.length === 0) return `${more} more`;
  return `${shown.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
}

/**
 * Tables that were not compared, each with the reason, as far as the receipt has their names: texts
 * of somebody else's.
 */
function namesNotCompared(checks: readonly Observed[]): string[] {
  return checks
    .filter(({ id }) => CONTENT.test(id))
    .flatMap(({ observed }) => {
      const names = observed["not_compared_tables"];
      return typeof names === "string" ? names.split(/(?<=\)), /) : [];
    })
    .filter((name) => / \([a-z_]{1,40}\)$/.test(name));
}

function privilegesText(checks: readonly Observed[], privileges: ComparedContent["privileges"]): string {
  if (privileges === undefined) return "";
  const differs = privileges.differing === 0 ? "" : `, ${privileges.differing} not as at the source`;
  const notCompared = sum(
    checks.filter(({ id }) => PRIVILEGES.test(id)),
    "not_compared",
  );
  const names = namesIn(checks, PRIVILEGES, "not_compared_objects");
  const besides = notCompared === 0 ? "" : `, not compared: ${namedText(names, notCompared)}`;
  return `; owners and grants of ${plural(privileges.count, "object")} compared${differs}${besides}`;
}

function unrestoredText(checks: readonly Observed[], unrestored: ComparedContent["unrestored"]): string {
  if (unrestored === undefined) return "";
  const differs = unrestored.differing === 0 ? "" : `, ${unrestored.differing} not as at the source`;
  const names = namesIn(checks, UNRESTORED, "not_compared_objects");
  const besides =
    unrestored.notCompared === 0 ? "" : `, not compared: ${namedText(names, unrestored.notCompared)}`;
  const what = `${plural(unrestored.count, "object")} that a test does not restore`;
  return `; ${what} compared in the dump${differs}${besides}`;
}

function globalsText(checks: readonly Observed[], globals: ComparedContent["globals"]): string {
  if (globals === undefined)
    return checks.some(({ id }) => id === ROLES)
      ? "; attributes, memberships and settings of roles not compared"
      : "";
  const own = checks.filter(({ id }) => GLOBALS.test(id));
  const listed = (count: string, names: string, what: string): string => {
    const total = sum(own, count);
    return total === 0 ? "" : `, ${what}: ${namedText(namesIn(checks, GLOBALS, names), total)}`;
  };
  const differs = globals.differing === 0 ? "" : `, ${globals.differing} not as at the source`;
  const besides = listed("not_compared", "not_compared_objects", "not compared");
  const refused = listed("not_looked_at", "not_looked_at_objects", "not taken by the sandbox");
  const what = plural(globals.count, "role, membership or setting", "roles, memberships and settings");
  return `; ${what} compared in the dump${differs}${besides}${refused}`;
}

function notLookedAtText(checks: readonly Observed[], count: number): string {
  return count === 0
    ? ""
    : `, not compared: ${namedText(namesIn(checks, OBJECTS, "not_looked_at_objects"), count)}`;
}

/** Lists of names, without one that was cut off. */
function namesIn(checks: readonly Observed[], ids: RegExp, field: string): string[] {
  return checks
    .filter(({ id }) => ids.test(id))
    .flatMap(({ observed }) => {
      const names = observed[field];
      return (typeof names === "string" ? names : startOfText(names)).split(", ");
    })
    .filter((name) => name !== "" && !name.endsWith("…"));
}

/** A receipt has the start of a longer text, with its length and digest. */
function startOfText(value: unknown): string {
  const isRecord = typeof value === "object" && value !== null && "text" in value;
  return isRecord && typeof value.text === "string" ? `${value.text}…` : "";
}

function attributesText(checks: readonly Observed[], hasContent: boolean): string {
  const observed = checks.find(({ id }) => id === ATTRIBUTES)?.observed;
  if (observed === undefined)
    return `${hasContent ? "content compared; " : ""}not compared: owners, times, ACLs and extended attributes`;
  const { owners, acls, xattrs, differing_kinds: differing, not_compared_kinds: notCompared } = observed;
  const compared = [
    hasContent ? "content" : null,
    "times",
    countedText(countOf(acls), "ACL"),
    countedText(countOf(xattrs), "extended attribute"),
    countOf(owners) === 0 ? null : "the archive's owners",
  ].filter((text) => text !== null);
  const differs = typeof differing === "string" ? `, ${differing} not as archived` : "";
  const besides = typeof notCompared === "string" ? `; not compared: ${notCompared}` : "";
  return `${compared.join(", ").replace(/, ([^,]*)$/, " and $1")} compared${differs}${besides}`;
}

function countedText(count: number, what: string): string | null {
  return count === 0 ? null : plural(count, what);
}

/** Of a backup that another program made, its restore test says why; empty if nobody does. */
function whyNotCompared(checks: readonly Observed[]): string {
  const why = checks
    .map(({ id, observed }) => (FOREIGN.has(id) ? observed["why_not_compared"] : undefined))
    .find((each) => typeof each === "string");
  return why === undefined ? "" : ` (${why})`;
}

function objectsText(objects: ComparedContent["objects"], why: string): string {
  if (objects === null) return `objects not compared${why}`;
  const { count, differing, notCompared = 0, lessExactly = false, ofDump = false } = objects;
  const differs = differing === 0 ? "" : `, ${differing} not as ${ofDump ? "in the dump" : "at the source"}`;
  const because = ofDump ? "which the copy prints in another way" : "because they changed during the dump";
  const besides = notCompared === 0 ? "" : `, ${notCompared} not, ${because}`;
  const without = lessExactly ? ", their expressions without casts, parentheses and spaces" : "";
  return `${plural(count, "object")} compared${differs}${besides}${without}`;
}

/**
 * Which of the checks says that it passed although the content that it saw is not the one that was
 * signed: its index, or -1. Whatever it does not say is not held against it.
 */
export function contradictedContent(checks: readonly Observed[]): number {
  return checks.findIndex(({ id, result, expectation, observed }) => {
    const isCompared =
      [CONTENT, OBJECTS, PRIVILEGES, UNRESTORED, GLOBALS].some((ids) => ids.test(id)) || id === ATTRIBUTES;
    if (!isCompared || result !== "passed") return false;
    const signed = /\bsha256 = '([0-9a-f]{64})'/.exec(expectation ?? "")?.[1];
    const { differing, sha256, tables } = observed;
    return (
      (typeof differing === "number" && differing !== 0) ||
      (typeof tables === "number" && tables === 0) ||
      (signed !== undefined && typeof sha256 === "string" && sha256 !== signed)
    );
  });
}

function sum(checks: readonly Observed[], name: string): number {
  return checks.reduce((total, { observed }) => total + countOf(observed[name]), 0);
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
