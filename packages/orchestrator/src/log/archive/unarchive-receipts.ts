import { sql } from "kysely";
import { readInOrg } from "../../platform/database/org-scope.ts";
import type { Database } from "../../platform/database/schema.ts";
import type { ServiceFiles } from "../../platform/objects/service-files.ts";
import { LogCorruption } from "../log-corruption.ts";
import { ENVELOPE_PLACE, type EnvelopePlace, readArchived } from "./archived-envelopes.ts";
import { leavesOf, newestFile } from "./file-entries.ts";

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
    const index = await newestFile(tx, orgId);
    if (index === null) return null;
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
  const leaves = await leavesOf(tx, orgId, index);
  return tx
    .selectFrom("receipts")
    .select(ENVELOPE_PLACE)
    .where("org_id", "=", orgId)
    .where(
      "id",
      "in",
      leaves.map(({ id }) => id),
    )
    .where("envelope", "is", null)
    .orderBy("log_index")
    .execute();
}
