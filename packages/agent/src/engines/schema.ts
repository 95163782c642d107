import { createHash } from "node:crypto";

/**
 * One line of a schema's listing. `relation` is the table it belongs to, empty for what stands by
 * itself.
 */
export interface SchemaLine {
  readonly kind: string;
  readonly relation: string;
  readonly name: string;
  readonly definition: string;
}

/**
 * SHA-256 in hex over the lines as JSON arrays, one a line, sorted by code units: the same schema,
 * the same hash.
 */
export function schemaHash(lines: readonly SchemaLine[]): string {
  const listing = lines
    .map(({ kind, relation, name, definition }) => JSON.stringify([kind, relation, name, definition]))
    .toSorted();
  return createHash("sha256").update(listing.join("\n")).digest("hex");
}

/** Of one table alone: the first half of its schema hash. */
export function tableSchema(lines: readonly SchemaLine[], table: string): string {
  return schemaHash(lines.filter(({ relation }) => relation === table)).slice(0, 32);
}

/** One thing of a schema with what belongs to it: a table with its columns and indexes. */
export interface SchemaObject {
  /** `table`, `view`, `extension`, … */
  readonly kind: string;
  readonly name: string;
  readonly definition?: string;
  /** `column id` → `bigint not null`; absent if there are none. */
  readonly parts?: Readonly<Record<string, string>>;
}

/**
 * The schema for a person to read, and for the service to compare backup by backup; JSON of at most
 * 48 KiB.
 */
export interface SchemaSummary {
  /** By kind and name. */
  readonly objects: readonly SchemaObject[];
  /** So many that there was no room for; the schema's hash covers them all. */
  readonly omitted: number;
}

const MAX_BYTES = 48 * 1024;
const MAX_DEFINITION = 160;
/** What stands for a table and everything that has columns, in the listings of the engines. */
const RELATIONS: ReadonlySet<string> = new Set(["relation", "table", "view", "collection"]);

/** The same lines in any order give the same summary. */
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
  let room = MAX_BYTES;
  for (const object of objects) {
    room -= Buffer.byteLength(JSON.stringify(object)) + 1;
    if (room < 0) break;
    kept.push(object);
  }
  return { objects: kept, omitted: objects.length - kept.length };
}

/** Long ones end in a digest of the whole, so that a change beyond their end still shows. */
function clipped(definition: string): string {
  const text = definition.toWellFormed();
  if (text.length <= MAX_DEFINITION) return text;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
  return `${text.slice(0, MAX_DEFINITION - 12).toWellFormed()}… ${digest}`;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => compare(a, b);
