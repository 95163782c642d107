import { createHmac } from "node:crypto";
import type { SourceMetadata } from "../../engine.ts";
import { contentTag } from "../../content/content-tag.ts";
import type { NotCompared, WhyNotCompared } from "../../content/not-compared.ts";
import { signContent } from "../../content/signed-content.ts";
import type { WhyAbsent } from "../../content/absent-objects.ts";
import { preparedKinds } from "../../content/prepared-transactions.ts";
import type { PsqlSession } from "../connection/psql-session.ts";
import { rowsOf } from "../schema.ts";
import { outputOf } from "../connection/session-error.ts";
import type { TableContent } from "./copy-digests.ts";
import {
  describeObjects,
  describePrivileges,
  describeUnrestored,
  type ListedObjects,
  withoutUnrestored,
} from "./describe-objects.ts";
import type { ArchiveContent } from "./read-archive.ts";
import {
  type CatalogueTable,
  catalogueTables,
  CONTENT_TABLES,
  LARGE_OBJECTS,
  NOT_COMPARED,
  VALUE_SETTINGS,
  type ValueSettings,
  whyNotCompared,
} from "./tables.ts";

/** The source's tables whose content can be compared, and its other data, from its catalogue. */
export interface ContentFacts {
  readonly settings: ValueSettings;
  readonly tables: readonly CatalogueTable[];
  readonly others: readonly NotCompared[];
}

/** Fields of `content` with a tag, each with the name of what it covers. */
export const TAGS_APART = { large_objects: LARGE_OBJECTS };

/** The dump's session settings that decide how values are printed. */
export type ContentSettings = ValueSettings & { readonly client_encoding: string };

/**
 * Runs in the transaction of the dump's snapshot. `quotesAll`: whether the dump's session has the
 * server print every name in quotes.
 * @throws RunError, SessionEnded
 */
export async function contentFacts(session: PsqlSession, quotesAll: boolean): Promise<ContentFacts> {
  const list = async (sql: string, what: string): Promise<string> => outputOf(await session.run(sql), what);
  const [[bytea_output = "", lc_monetary = ""] = []] = rowsOf(
    await list(VALUE_SETTINGS, "asking for the settings"),
  );
  return {
    settings: { bytea_output, quote_all_identifiers: quotesAll ? "on" : "off", lc_monetary },
    tables: catalogueTables(await list(CONTENT_TABLES, "listing the tables")),
    others: rowsOf(await list(NOT_COMPARED, "listing what else holds data")).map(([why = "", name = ""]) => ({
      name,
      // The query names the reason itself.
      why: why as WhyNotCompared,
    })),
  };
}

export function tableTag(key: Buffer, { schema, table, columns, sha256 }: TableContent): string {
  return contentTag(key, [schema, table, columns, sha256]);
}

/** The key of one database, if a backup has several. */
export function contentKeyOf(key: Buffer, database: string): Buffer {
  return createHmac("sha256", key).update(database).digest();
}

/**
 * Adds what is known about the content to the metadata. `archive` is null if the dump could not be
 * read.
 */
export function withContent(
  metadata: SourceMetadata,
  { settings, tables, others }: ContentFacts,
  { before, after }: { readonly before: ListedObjects; readonly after: ListedObjects },
  archive: ArchiveContent | null,
  key: Buffer,
): SourceMetadata {
  const unrestored = describeUnrestored(before.unrestored, after.unrestored, key);
  const apart = unrestored !== null;
  const listed = describeObjects(
    apart ? withoutUnrestored(before) : before,
    apart ? withoutUnrestored(after) : after,
    archive?.sequences ?? null,
    key,
  );
  const prepared = preparedKinds(before.prepared, after.prepared).map((kind) => [kind, null] as const);
  const objects =
    listed === null || prepared.length === 0
      ? listed
      : { ...listed, left_out: [...(listed.left_out ?? []), ...prepared] };
  const privileges = describePrivileges(before, after, key);
  const found = new Map(archive?.tables.map((each) => [nameKey(each), each]));
  const lines = archive?.largeObjects ?? null;
  const tags = new Map<string, string>();
  const notCompared: NotCompared[] = [];
  for (const table of tables) {
    const content =
      table.name !== LARGE_OBJECTS
        ? found.get(nameKey(table))
        : lines === null
          ? undefined
          : { ...table, sha256: lines };
    const why =
      whyNotCompared(table, settings) ??
      (archive === null ? "dump_not_read" : content === undefined ? "not_in_dump" : null);
    if (why !== null || content === undefined)
      notCompared.push({ name: table.name, why: why ?? "not_in_dump" });
    else tags.set(table.name, tableTag(key, content));
  }
  return signContent(metadata, {
    tags,
    apart: TAGS_APART,
    notCompared: [...notCompared, ...others],
    settings: archive === null ? null : { ...settings, client_encoding: archive.encoding },
    objects,
    privileges,
    unrestored,
    absent: {
      ...(privileges === null ? { privileges: whyAbsent(before.privileges, after.privileges) } : {}),
      ...(unrestored === null ? { unrestored: whyAbsent(before.unrestored, after.unrestored) } : {}),
    },
  });
}

function whyAbsent(before: unknown, after: unknown): WhyAbsent {
  return before === null || after === null ? "not_listed" : "changed";
}

function nameKey({ schema, table }: Pick<TableContent, "schema" | "table">): string {
  return JSON.stringify([schema, table]);
}
