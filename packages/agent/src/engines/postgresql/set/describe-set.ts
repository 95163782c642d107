import { createHash } from "node:crypto";
import type { SourceMetadata } from "../../engine.ts";
import { MAX_TABLES_LISTED, type RowCounts } from "../../row-counts.ts";
import { MAX_SUMMARY_BYTES, type SchemaSummary } from "../../schema.ts";
import { type ContentMetadata, MAX_NOT_COMPARED } from "../../content/signed-content.ts";
import { MAX_NAMED, type ObjectDigests } from "../../content/tagged-objects.ts";
import type { Globals } from "./dump-globals.ts";
import { nameInSet } from "../name-in-set.ts";
import { joinOthers, type OtherObjects } from "../content/other-objects.ts";
import { type SetMetadata, withinReceipt } from "./within-receipt.ts";

export const SET_FORMAT = "pg_dump-set";
const MAX_ROLES = 300;
const MAX_WITH_KINDS = 8;

export interface DescribedSet {
  readonly version: string;
  readonly tools: string;
  /** The database in which a check's query runs. */
  readonly own: string;
  readonly described: readonly { readonly name: string; readonly metadata: SourceMetadata }[];
  readonly globals: Globals | null;
  /** Whether it should have all databases, and the server has some that accept no connections. */
  readonly lacksClosed: boolean;
}

/** For `left_out` of the metadata, of the first database. */
const CLOSED_LEFT_OUT = ["closed_database", null] as const;

/** Combines the databases' own hashes, by name. */
export function setHash(hashes: readonly (readonly [string, string])[]): string {
  const listing = hashes.map((pair) => JSON.stringify(pair)).toSorted();
  return createHash("sha256").update(listing.join("\n")).digest("hex");
}

/** The number of tables of each database that fit into a receipt, with that many databases. */
export function tablesOfEach(databases: number): number {
  return Math.max(1, Math.floor(MAX_TABLES_LISTED / Math.max(1, databases)));
}

export function describeSet({
  version,
  tools,
  own,
  described,
  globals,
  lacksClosed,
}: DescribedSet): SourceMetadata {
  const share = tablesOfEach(described.length);
  const tables = described.map(({ name, metadata }) =>
    (metadata["tables"] as { name: string }[]).map((table) => ({
      ...table,
      name: nameInSet(name, table.name),
    })),
  );
  // First the largest table of each database, then the second largest of each.
  const ranked = Array.from({ length: share }, (_, rank) =>
    tables.flatMap((largest) => largest.slice(rank, rank + 1)),
  ).flat();
  const sum = (field: string): number =>
    described.reduce((total, { metadata }) => total + Number(metadata[field] ?? 0), 0);
  const summary = joined(described);
  const others = joinOthers(
    described.map(({ name, metadata }) => ({
      name,
      others: metadata["other_objects"] as OtherObjects | undefined,
    })),
    nameInSet,
    summary,
  );
  const metadata: SetMetadata = {
    engine: "postgresql",
    engine_version: version,
    dump_format: SET_FORMAT,
    schema_hash: setHash(described.map(({ name, metadata }) => [name, metadata.schema_hash])),
    exact_schema_hash: setHash(
      described.map(({ name, metadata }) => [name, String(metadata["exact_schema_hash"])]),
    ),
    dump_version: tools,
    own_database: own,
    globals:
      globals === null
        ? null
        : {
            roles: globals.roles.slice(0, MAX_ROLES),
            role_count: globals.roles.length,
            passwords: globals.hasPasswords,
          },
    database_bytes: sum("database_bytes"),
    table_count: sum("table_count"),
    ...(globals?.objects === null || globals === null
      ? {}
      : { content: { globals: objectsOf(globals.objects, described.length) } }),
    databases: described.map(({ name, metadata }, index) => ({
      name,
      schema_hash: metadata.schema_hash,
      encoding: metadata["encoding"],
      ...("locale" in metadata ? { locale: metadata["locale"] } : {}),
      ...("lacks_public" in metadata ? { lacks_public: true } : {}),
      extensions: metadata["extensions"],
      named_roles: metadata["named_roles"],
      row_counts: metadata["row_counts"] as RowCounts,
      ...contentOf(metadata, described.length, lacksClosed && index === 0 ? [CLOSED_LEFT_OUT] : []),
    })),
    tables: tables.flat(),
    schema_summary: summary,
    ...(others === null ? {} : { other_objects: others }),
  };
  return withinReceipt(metadata, ranked);
}

/**
 * The content of one database. A set has no more room for names than a single database, so they
 * share it.
 */
function contentOf(
  metadata: SourceMetadata,
  databases: number,
  leftOut: NonNullable<ObjectDigests["left_out"]>,
): { readonly content?: ContentMetadata } {
  const content = metadata["content"] as ContentMetadata | undefined;
  if (content === undefined) return {};
  const { count, named } = content.not_compared;
  const share = Math.floor(MAX_NOT_COMPARED / databases);
  const { objects, privileges, unrestored, ...more } = content;
  return {
    content: {
      ...more,
      not_compared: { count, named: named.slice(0, share) },
      ...(objects === undefined ? {} : { objects: objectsOf(withLeftOut(objects, leftOut), databases) }),
      ...(privileges === undefined ? {} : { privileges: objectsOf(privileges, databases) }),
      ...(unrestored === undefined ? {} : { unrestored: objectsOf(unrestored, databases) }),
    },
  };
}

function withLeftOut<Objects extends ObjectDigests>(
  objects: Objects,
  more: NonNullable<ObjectDigests["left_out"]>,
): Objects {
  return more.length === 0 ? objects : { ...objects, left_out: [...(objects.left_out ?? []), ...more] };
}

/** With many databases, a receipt has room for only one digest of each. */
function objectsOf<Objects extends ObjectDigests>(objects: Objects, databases: number): Objects {
  if (databases > MAX_WITH_KINDS) return { ...objects, kinds: {}, named: [] };
  return { ...objects, named: objects.named.slice(0, Math.floor(MAX_NAMED / databases)) };
}

/** The summaries one after another, as far as they fit. */
function joined(described: DescribedSet["described"]): SchemaSummary {
  let room = MAX_SUMMARY_BYTES;
  let omitted = 0;
  const objects = described.flatMap(({ name, metadata }) => {
    const summary = metadata["schema_summary"] as SchemaSummary;
    omitted += summary.omitted;
    return summary.objects.flatMap((object) => {
      const named = { ...object, name: nameInSet(name, object.name) };
      room -= Buffer.byteLength(JSON.stringify(named)) + 1;
      if (room >= 0) return [named];
      omitted += 1;
      return [];
    });
  });
  return { objects, omitted };
}
