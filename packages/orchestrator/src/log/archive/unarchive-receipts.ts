import { parseLeaf } from "@attestore/proof";
import { sql } from "kysely";
import { readInOrg } from "../../platform/database/org-scope.ts";
import type { Database } from "../../platform/database/schema.ts";
import type { ServiceFiles } from "../../platform/objects/service-files.ts";
import { LogCorruption } from "../log-corruption.ts";
import { FILE_ENTRIES } from "./archive-file.ts";
import { ENVELOPE_PLACE, type EnvelopePlace, readArchived } from "./archived-envelopes.ts";

/**
 * Takes the envelopes of a log's newest file back into their rows. The file stays where it is.
 * Returns how many, or null if no file is left. Throws LogCorruption, and changes nothing, if the
 * file is missing or damaged.
 */
export async function unarchiveNewest(
  { db, files }: { db: Database; files: ServiceFiles },
  orgId: string,
): Promise<number | null> {
  const newest = await readInOrg(db, orgId, async (tx) => {
    const row = await tx
      .selectFrom("archive_files")
      .select((expression) => expression.fn.max("file_index").as("index"))
      .where("org_id", "=", orgId)
      .executeTakeFirst();
    if (row === undefined || row.index === null) return null;
    const index = Number(row.index);
    return { index, places: await placesIn(tx, orgId, index) };
  });
  if (newest === null) return null;
  const found = await readArchived(files, newest.places);
  const envelopes = newest.places.map(({ id }) => {
    const envelope = found.get(id);
    if (!Buffer.isBuffer(envelope))
      throw new LogCorruption("log_incomplete", `${id}: ${envelope ?? "it was not read"}`);
    return envelope;
  });
  await sql`select attestore_unarchive(${orgId}, ${newest.index}, ${newest.places.map(({ id }) => id)}::text[],
    ${envelopes}::bytea[])`.execute(db);
  return envelopes.length;
}

/** The receipts that are in this file. */
async function placesIn(tx: Database, orgId: string, index: number): Promise<EnvelopePlace[]> {
  const leaves = await tx
    .selectFrom("log_leaves")
    .select("leaf")
    .where("org_id", "=", orgId)
    .where("log_index", ">=", index * FILE_ENTRIES)
    .where("log_index", "<", (index + 1) * FILE_ENTRIES)
    .execute();
  return tx
    .selectFrom("receipts")
    .select(ENVELOPE_PLACE)
    .where("org_id", "=", orgId)
    .where(
      "id",
      "in",
      leaves.map(({ leaf }) => parseLeaf(leaf).id),
    )
    .where("envelope", "is", null)
    .orderBy("log_index")
    .execute();
}
