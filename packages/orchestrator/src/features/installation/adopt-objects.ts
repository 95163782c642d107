import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import { type LogHead, MARKER, mergeHeads, printMarker } from "./marker.ts";
import { comparePair } from "./pairing.ts";
import { nameInstallation, readLogHeads, setPaired } from "./store.ts";

/**
 * From now on the objects belong to this database, even if another had them before. The signed
 * heads stay in the marker, so a log that was set back still cannot continue.
 * @returns the installation's id
 */
export async function adoptObjects(
  pool: Pool,
  objects: ObjectStore,
  signedHere: ReadonlyMap<string, LogHead>,
): Promise<string> {
  const { marker } = await comparePair(pool, objects);
  const { id } = await nameInstallation(pool, randomUUID());
  const signed = mergeHeads(marker?.signed ?? new Map(), signedHere);
  await objects.notes.write(
    MARKER,
    printMarker({ installationId: id, heads: await readLogHeads(pool), signed }),
  );
  await setPaired(pool, id);
  return id;
}
