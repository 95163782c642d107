import { MAX_SOURCE_METADATA_BYTES } from "@attestore/contract";
import { sql } from "kysely";
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
  const now = metadata["schema_summary"];
  if (now === undefined) return null;
  const before = await db
    .selectFrom("backups")
    .select(
      // Summaries from before the limit may have any size. As text, jsonb takes up to twice the
      // bytes that were sent.
      sql<unknown>`case when octet_length((source_metadata -> 'schema_summary')::text) <= ${2 * MAX_SOURCE_METADATA_BYTES}
        then source_metadata -> 'schema_summary' end`.as("summary"),
    )
    .where("source_id", "=", sourceId)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  const changes = schemaChanges(before?.summary, now);
  return changes === null ? null : JSON.stringify(changes);
}
