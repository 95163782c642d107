import { sql } from "kysely";
import { errorCode } from "@attestore/host/errno";
import { readInOrg } from "../../platform/database/org-scope.ts";
import type { Database } from "../../platform/database/schema.ts";
import type { ServiceFiles } from "../../platform/objects/service-files.ts";
import { archivedIn, archiveFile, archiveName, FILE_ENTRIES } from "./archive-file.ts";
import { leavesOf, newestFile } from "./file-entries.ts";

/** The rows are not as they were read: perhaps another replica was faster. */
const CHANGED = new Set(["23505", "AT002"]);

export interface Archived {
  files: number;
  receipts: number;
  bytes: number;
}

export interface ArchiveTo {
  db: Database;
  files: ServiceFiles;
  /**
   * Throws unless the object store belongs to this database. Asked before the rows lose anything:
   * a wrong bucket, or a directory whose disk is not mounted, takes files too.
   */
  requireStore: () => Promise<void>;
}

/**
 * Moves the envelopes of a log's receipts that were recorded before `before` into files, from the
 * oldest on: for each 256 entries, all of which must be that old, one file. A file is durable and
 * was read back before the rows lose their envelopes, in one statement. Whatever is cut off begins
 * again, and makes a file of the same name and content.
 *
 * Stays in its row: an envelope whose run ended, by its agent's clock, only after it was recorded;
 * when it ended is known from it alone.
 */
export async function archiveReceipts(
  { db, files, requireStore }: ArchiveTo,
  { orgId, before, signal }: { orgId: string; before: Date; signal: AbortSignal },
): Promise<Archived> {
  const done: Archived = { files: 0, receipts: 0, bytes: 0 };
  while (!signal.aborted) {
    const next = await readNext(db, orgId, before);
    if (next === null) break;
    const { bytes, sha256, parts } = archiveFile(next.receipts);
    if (parts.length > 0)
      await writeChecked(files, archiveName(orgId, next.index, archivedIn(sha256)), bytes);
    await requireStore();
    try {
      await sql`select attestore_archive(${orgId}, ${next.index}, ${sha256}, ${bytes.length},
        ${parts.map(({ id }) => id)}::text[], ${parts.map(({ start }) => start)}::integer[],
        ${parts.map(({ length }) => length)}::integer[])`.execute(db);
    } catch (error) {
      if (!CHANGED.has(errorCode(error) ?? "") || !(await isArchived(db, orgId, next.index))) throw error;
      continue;
    }
    done.files += 1;
    done.receipts += parts.length;
    done.bytes += bytes.length;
  }
  return done;
}

/** Organisations that may have entries to archive. */
export async function listArchivable(db: Database): Promise<string[]> {
  const { rows } = await sql<{ org_id: string }>`
    select org_id from logs
    where tree_size >= ${FILE_ENTRIES} and missing_head_size is null and held_until is null
      and tree_size >= ${FILE_ENTRIES} * (2 + coalesce(
        (select max(file_index) from archive_files where archive_files.org_id = logs.org_id), -1))
    order by org_id`.execute(db);
  return rows.map(({ org_id }) => org_id);
}

interface Next {
  index: number;
  receipts: { id: string; envelope: Buffer }[];
}

/** What comes into the log's next file; null if its entries are not all there and old. */
async function readNext(db: Database, orgId: string, before: Date): Promise<Next | null> {
  return readInOrg(db, orgId, async (tx) => {
    const newest = await newestFile(tx, orgId);
    const index = newest === null ? 0 : newest + 1;
    const leaves = await leavesOf(tx, orgId, index);
    const isOld = leaves.every(({ recorded_at }) => recorded_at < before.toISOString());
    if (leaves.length < FILE_ENTRIES || !isOld) return null;
    const receipts = await tx
      .selectFrom("receipts")
      .select(["id", "envelope"])
      .where("org_id", "=", orgId)
      .where(
        "id",
        "in",
        leaves.map(({ id }) => id),
      )
      .where("envelope", "is not", null)
      .whereRef("happened_at", "<", "created_at")
      .orderBy("log_index")
      .execute();
    return {
      index,
      receipts: receipts.flatMap(({ id, envelope }) => (envelope === null ? [] : [{ id, envelope }])),
    };
  });
}

async function isArchived(db: Database, orgId: string, index: number): Promise<boolean> {
  const row = await db
    .selectFrom("archive_files")
    .select("file_index")
    .where("org_id", "=", orgId)
    .where("file_index", "=", index)
    .executeTakeFirst();
  return row !== undefined;
}

async function writeChecked(files: ServiceFiles, name: string, bytes: Buffer): Promise<void> {
  const read = (): Promise<Buffer | null> => files.read(name, { start: 0, length: bytes.length });
  const before = await read();
  if (before?.equals(bytes) === true) return;
  if (before !== null) throw new Error(`the object store has other bytes of ${name} than its name says`);
  await files.write(name, bytes);
  const stored = await read();
  if (stored === null || !stored.equals(bytes))
    throw new Error(`the object store has other bytes of ${name} than it was given a moment ago`);
}
