import { MAX_SOURCE_METADATA_BYTES } from "@attestore/contract";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";
import { schemaChanges } from "./schema-changes.ts";

/**
 * How a schema's summary differs from that of the source's newest backup, as JSON to be stored with
 * the backup that is being registered. It is computed once, here, and drift reads it. Null if one
 * of the two has no summary.
 */
export async function changesSinceNewest(
  db: Database,
  sourceId: string,
  metadata: Readonly<Record<string, unknown>>,
): Promise<string | null> {
  const now = { summary: metadata["schema_summary"], others: metadata["other_objects"] };
  if (now.summary === undefined) return null;
  const before = await db
    .selectFrom("backups")
    .select([sentAs("schema_summary").as("summary"), sentAs("other_objects").as("others")])
    .where("source_id", "=", sourceId)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  if (before === undefined) return null;
  const changes = schemaChanges(before, now);
  return changes === null ? null : JSON.stringify(changes);
}

/**
 * Metadata from before the limit may have any size. As text, jsonb takes up to twice the bytes that
 * were sent.
 */
const sentAs = (field: string): RawBuilder<unknown> =>
  sql<unknown>`case when octet_length((source_metadata -> ${field}::text)::text) <= ${2 * MAX_SOURCE_METADATA_BYTES}
    then source_metadata -> ${field}::text end`;
