import { createHash } from "node:crypto";

/** One line of a schema listing. `relation` is the table that it belongs to, or empty. */
export interface SchemaLine {
  readonly kind: string;
  readonly relation: string;
  readonly name: string;
  readonly definition: string;
}

/**
 * SHA-256 in hex over the lines as JSON arrays, one a line, sorted by code units. The same schema
 * has the same hash.
 */
export function schemaHash(lines: readonly SchemaLine[]): string {
  const listing = lines
    .map(({ kind, relation, name, definition }) => JSON.stringify([kind, relation, name, definition]))
    .toSorted();
  return createHash("sha256").update(listing.join("\n")).digest("hex");
}

/** The first half of the schema hash of one table alone. */
export function tableSchema(lines: readonly SchemaLine[], table: string): string {
  return schemaHash(lines.filter(({ relation }) => relation === table)).slice(0, 32);
}

/** An object of a schema with its parts, for example a table with its columns and indexes. */
export interface SchemaObject {
  /** `table`, `view`, `extension`, … */
  readonly kind: string;
  readonly name: string;
  readonly definition?: string;
  /** `column id` → `bigint not null`; absent if it has no parts. */
  readonly parts?: Readonly<Record<string, string>>;
}

/**
 * The schema for people to read, and for the service to compare between backups: JSON of at most 48
 * KiB.
 */
export interface SchemaSummary {
  /** Sorted by kind and name. */
  readonly objects: readonly SchemaObject[];
  /** The number of objects that did not fit. The schema hash covers them all. */
  readonly omitted: number;
}

export const MAX_SUMMARY_BYTES = 48 * 1024;
const MAX_DEFINITION = 160;
/** The kinds that mean a table, or something else with columns, in the engines' listings. */
const RELATIONS: ReadonlySet<string> = new Set(["relation", "table", "view", "collection"]);

/** The result does not depend on the order of the lines. */
export function schemaSummary(lines: readonly SchemaLine[]): SchemaSummary {
  const objects = new Map<
    string,
    { kind: string; name: string; definition?: string; parts: Map<string, string> }
  >();
  const objectOf = (
    kind: string,
    name: string,
  ): { kind: string; definition?: string; parts: Map<string, string> } => {
    const key = kind === "table" ? name : `${kind}\0${name}`;
    const found = objects.get(key) ?? { kind, name, parts: new Map<string, string>() };
    objects.set(key, found);
    return found;
  };
  for (const { kind, relation, name, definition } of lines) {
    if (relation === "") {
      objectOf(kind, name).definition = definition;
    } else if (RELATIONS.has(kind) && (name === "" || name === relation)) {
      const object = objectOf("table", relation);
      object.definition = definition;
      if (kind === "view" || kind === "collection") object.kind = kind;
    } else {
      objectOf("table", relation).parts.set(`${kind} ${name}`, clipped(definition));
    }
  }
  const sorted = [...objects.values()]
    .map(({ kind, name, definition, parts }): SchemaObject => ({
      kind,
      name,
      ...(definition === undefined || definition === "" ? {} : { definition: clipped(definition) }),
      ...(parts.size === 0 ? {} : { parts: Object.fromEntries([...parts].toSorted(byName)) }),
    }))
    .toSorted((a, b) => (a.kind === b.kind ? compare(a.name, b.name) : compare(a.kind, b.kind)));
  return withinRoom(sorted);
}

function withinRoom(objects: readonly SchemaObject[]): SchemaSummary {
  const kept: SchemaObject[] = [];
  let room = MAX_SUMMARY_BYTES;
  for (const object of objects) {
    room -= Buffer.byteLength(JSON.stringify(object)) + 1;
    if (room < 0) break;
    kept.push(object);
  }
  return { objects: kept, omitted: objects.length - kept.length };
}

/** A long definition ends with a digest of the whole, so a change after the cut still shows. */
function clipped(definition: string): string {
  const text = definition.toWellFormed();
  if (text.length <= MAX_DEFINITION) return text;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
  return `${text.slice(0, MAX_DEFINITION - 12).toWellFormed()}… ${digest}`;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => compare(a, b);

/** How many lines there are of each kind. */
export function kindsOf(lines: readonly SchemaLine[]): ReadonlyMap<string, number> {
  const kinds = new Map<string, number>();
  for (const { kind } of lines) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return kinds;
}
