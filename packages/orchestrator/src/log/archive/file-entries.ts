import { type Leaf, parseLeaf } from "@attestore/proof";
import type { Database } from "../../platform/database/schema.ts";
import { FILE_ENTRIES } from "./archive-file.ts";

/** The index of the log's newest file; null if it has none. */
export async function newestFile(db: Database, orgId: string): Promise<number | null> {
  const row = await db
    .selectFrom("archive_files")
    .select("file_index")
    .where("org_id", "=", orgId)
    .orderBy("file_index", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.file_index ?? null;
}

/** The leaves of the entries that share a file, in their order; fewer if the log ends before. */
export async function leavesOf(db: Database, orgId: string, fileIndex: number): Promise<Leaf[]> {
  const rows = await db
    .selectFrom("log_leaves")
    .select("leaf")
    .where("org_id", "=", orgId)
    .where("log_index", ">=", fileIndex * FILE_ENTRIES)
    .where("log_index", "<", (fileIndex + 1) * FILE_ENTRIES)
    .orderBy("log_index")
    .execute();
  return rows.map(({ leaf }) => parseLeaf(leaf));
}
