import { plural } from "@attestore/proof";
import type { Pool } from "pg";
import { findMissingHeads } from "../../log/heads/missing-heads.ts";
import type { Database } from "../../platform/database/schema.ts";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import { type LogHead, type Marker, MARKER, parseMarker } from "./marker.ts";
import { isSmallShare } from "./small-share.ts";
import { type NamedInstallation, readInstallation } from "./store.ts";
import { type Survey, surveyObjects } from "./survey-objects.ts";

export type HeldReason =
  /** The object store could not be asked. */
  | "not_checked"
  | "marker_unreadable"
  | "marker_missing"
  /** Objects of an installation, and a database that has no name: an empty or older one. */
  | "database_unnamed"
  | "other_installation"
  | "database_set_back"
  /** Neither has a name yet, and the objects do not belong to this database. */
  | "objects_unknown"
  | "objects_missing";

/** Whether the database and the object store belong together. */
export type Pairing =
  | { is: "paired" }
  /** Neither names the other yet, and they match. */
  | { is: "new" }
  /** Nothing may be deleted. */
  | { is: "held"; reason: HeldReason; message: string };

/** One database: typed, and the same connections as the log's own statements use them. */
export interface DatabaseOfLogs {
  db: Database;
  pool: Pool;
}

export interface Compared {
  pairing: Pairing;
  marker: Marker | null;
  named: NamedInstallation | null;
}

/**
 * The newest signed head of each log that the object store's marker has, by the log's name; none if
 * there is no marker. Throws if it cannot be read.
 */
export async function readMarkedHeads(objects: ObjectStore): Promise<ReadonlyMap<string, LogHead>> {
  const text = await objects.notes.read(MARKER);
  if (text === null) return new Map();
  const marker = parseMarker(text);
  if (marker === null) throw new Error("the marker is damaged");
  return marker.signed;
}

/** Compares the two. Reads only. */
export async function comparePair(database: DatabaseOfLogs, objects: ObjectStore): Promise<Compared> {
  const text = await objects.notes.read(MARKER);
  const marker = text === null ? null : parseMarker(text);
  const named = await readInstallation(database.db);
  const pairing =
    text !== null && marker === null
      ? held("marker_unreadable", "The object store's marker cannot be read.")
      : await decide(database, objects, marker, named);
  return { pairing, marker, named };
}

async function decide(
  { db, pool }: DatabaseOfLogs,
  objects: ObjectStore,
  marker: Marker | null,
  named: NamedInstallation | null,
): Promise<Pairing> {
  if (marker === null)
    return named?.paired === true
      ? held(
          "marker_missing",
          `The object store has no marker, but this database belongs to a store that has one (${named.id}).`,
        )
      : fits(await surveyObjects(db, objects));
  if (named === null)
    return held(
      "database_unnamed",
      `The objects belong to the installation ${marker.installationId}, but this database is empty or older.`,
    );
  if (named.id !== marker.installationId)
    return held(
      "other_installation",
      `The objects belong to the installation ${marker.installationId}, but this database belongs to ${named.id}.`,
    );
  const missing = await findMissingHeads(
    pool,
    [...marker.heads].map(([origin, { size, root }]) => ({
      origin,
      size,
      rootHash: Buffer.from(root, "hex"),
    })),
    // Named after the organisation alone. Objects of entries that a log lost for good are missing
    // here until somebody adopts the objects, and so are backups that only the lost database knew.
    { anyName: true },
  );
  const [first] = missing;
  return first === undefined
    ? { is: "paired" }
    : held(
        "database_set_back",
        `The database was set back: ${plural(missing.length, "log lacks", "logs lack")} entries that were there when the objects were last in use (${first.origin} had ${plural(first.size, "entry", "entries")}).`,
      );
}

/** Of a database and objects without names, as of a first start or of a version that gave none. */
function fits({ objects, unknown, sampled, absent }: Survey): Pairing {
  if (unknown > 0 && (!isSmallShare(unknown, objects) || unknown > objects - unknown))
    return held(
      "objects_unknown",
      `${unknown} of the ${plural(objects, "object")} are unknown to the database.`,
    );
  if (sampled > 0 && absent === sampled)
    return held("objects_missing", "None of the database's newest backups is in the object store.");
  return { is: "new" };
}

function held(reason: HeldReason, message: string): Pairing {
  return { is: "held", reason, message };
}
