import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isId, type SourceMetadata } from "@attestore/contract";
import { makeDirectory, removeFile, replaceJsonFile } from "@attestore/host/durable-files";
import { receiptKind } from "@attestore/proof";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import type { Layout } from "../../state/layout.ts";
import { datedReceipts } from "../../receipts/dated-receipts.ts";
import { readJson, readText } from "../../state/read-json.ts";
import type { StoredObject } from "./backup-store.ts";

/** A backup that a standalone root has stored and not pruned, in `backups/<id>.json`. */
export interface StoredRecord extends StoredObject {
  readonly v: 1;
  readonly id: string;
  readonly source: string;
  readonly sourceId: string;
  /** When its dump finished. */
  readonly at: string;
  readonly sourceMetadata: SourceMetadata;
}

/** Written once the store has the object, and before its receipt is signed. */
export async function recordStored(layout: Layout, record: StoredRecord): Promise<void> {
  await makeDirectory(layout.storedBackups);
  await replaceJsonFile(fileOf(layout, record.id), record);
}

/** Called once the object is gone: until then the record shows that it must still be removed. */
export async function forgetStored(layout: Layout, id: string): Promise<void> {
  await removeFile(fileOf(layout, id));
}

export async function readStored(layout: Layout, id: string): Promise<StoredRecord | null> {
  if (!isId("backup", id)) return null;
  return (await readText(fileOf(layout, id))) === null
    ? null
    : ((await readJson(fileOf(layout, id))) as StoredRecord);
}

/**
 * Newest first, in the order in which their receipts were signed: a backup that a wrong clock dated
 * ahead is not the newest, and `at` is never still to come.
 */
export async function listStored(layout: Layout, now = Date.now()): Promise<StoredRecord[]> {
  const names = (await nullIfMissing(readdir(layout.storedBackups))) ?? [];
  const found: StoredRecord[] = [];
  for (const name of names) {
    const record = name.endsWith(".json") ? await readStored(layout, name.slice(0, -".json".length)) : null;
    if (record !== null) found.push(record);
  }
  const receipts = (await datedReceipts(layout, now)).filter(
    ({ statement }) => receiptKind(statement) === "backup",
  );
  const positions = new Map(receipts.map((dated, index) => [dated.statement.predicate.backup_id, index]));
  const placed = found.map((record) => {
    // A run that was killed before it signed left a record without a receipt.
    const position = positions.get(record.id) ?? -1;
    const orderedAt = receipts[position]?.orderedAt ?? Math.min(Date.parse(record.at), now);
    const at = Date.parse(record.at) <= now ? record.at : new Date(orderedAt).toISOString();
    return { record: { ...record, at }, position, orderedAt };
  });
  return placed
    .toSorted((a, b) => b.orderedAt - a.orderedAt || a.position - b.position)
    .map(({ record }) => record);
}

function fileOf(layout: Layout, id: string): string {
  return join(layout.storedBackups, `${id}.json`);
}
