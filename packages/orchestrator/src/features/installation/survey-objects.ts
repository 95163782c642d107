import type { Database } from "../../platform/database/schema.ts";
import { isOwnKey } from "../../platform/objects/object-key.ts";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import { listKnownObjects, listNewestObjects } from "./store.ts";

export interface Survey {
  objects: number;
  /** Objects that the database does not know, neither as a backup nor as an upload. */
  unknown: number;
  unknownBytes: number;
  /**
   * Of the newest backups that the database has how many were looked for, and how many have no
   * object here.
   */
  sampled: number;
  absent: number;
}

const PAGE = 500;
const SAMPLE = 20;

/** Looks at every object's name, and for the objects of the newest backups. Reads only. */
export async function surveyObjects(db: Database, objects: ObjectStore): Promise<Survey> {
  const survey: Survey = { objects: 0, unknown: 0, unknownBytes: 0, sampled: 0, absent: 0 };
  let page = new Map<string, number>();
  const count = async (): Promise<void> => {
    for (const key of await listKnownObjects(db, [...page.keys()])) page.delete(key);
    survey.unknown += page.size;
    for (const bytes of page.values()) survey.unknownBytes += bytes;
    page = new Map();
  };
  for await (const { key, sizeBytes } of objects.list()) {
    if (!isOwnKey(key)) continue;
    survey.objects += 1;
    page.set(key, sizeBytes);
    if (page.size === PAGE) await count();
  }
  await count();
  const newest = await listNewestObjects(db, SAMPLE);
  survey.sampled = newest.length;
  for (const key of newest) if ((await objects.head(key)) === null) survey.absent += 1;
  return survey;
}
