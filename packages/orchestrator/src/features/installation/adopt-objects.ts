import { randomUUID } from "node:crypto";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import { type LogHead, MARKER, mergeHeads, printMarker } from "./marker.ts";
import { comparePair, type DatabaseOfLogs } from "./pairing.ts";
import { nameInstallation, readLogHeads, setPaired } from "./store.ts";

/**
 * From now on the objects belong to this database, even if another had them before. The signed
 * heads stay in the marker, so a log that was set back still cannot continue.
 * @returns the installation's id
 */
export async function adoptObjects(
  database: DatabaseOfLogs,
  objects: ObjectStore,
  signedHere: ReadonlyMap<string, LogHead>,
): Promise<string> {
  const { marker } = await comparePair(database, objects);
  const { id } = await nameInstallation(database.db, randomUUID());
  const signed = mergeHeads(marker?.signed ?? new Map(), signedHere);
  await objects.notes.write(
    MARKER,
    printMarker({ installationId: id, heads: await readLogHeads(database.db), signed }),
  );
  await setPaired(database.db, id);
  return id;
}
