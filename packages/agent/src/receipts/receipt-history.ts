import { firstIdAt } from "@attestore/contract";
import { receiptKind, type BackupStatement, type RestoreTestStatement } from "@attestore/proof";
import type { Layout } from "../state/layout.ts";
import { listAllReceipts, readStatement, type ReceiptFile } from "./receipt-files.ts";

/** Reads this host's own receipts as its history: each states its subject. */
export interface Remembered<S> {
  readonly file: ReceiptFile;
  readonly statement: S;
}

/** The newest backup of a source that this agent made. */
export async function newestBackup(
  layout: Layout,
  sourceId: string,
): Promise<Remembered<BackupStatement> | null> {
  return findBackup(layout, ({ predicate }) => predicate.source_id === sourceId);
}

/** This agent's own record of one backup, whatever its age. */
export async function backupById(
  layout: Layout,
  backupId: string,
): Promise<Remembered<BackupStatement> | null> {
  return findBackup(layout, ({ predicate }) => predicate.backup_id === backupId);
}

/** The newest restore test of a source, with any result. */
export async function newestRestoreTest(
  layout: Layout,
  sourceId: string,
): Promise<Remembered<RestoreTestStatement> | null> {
  return findRestoreTest(layout, ({ predicate }) => predicate.source_id === sourceId);
}

/**
 * The newest passed restore test of the newest backup that passed one. Testing an older backup
 * again says nothing about newer data.
 */
export async function newestPassedRestoreTest(
  layout: Layout,
  sourceId: string,
): Promise<RestoreTestStatement | null> {
  const newest: { statement: RestoreTestStatement | null; id: string } = { statement: null, id: "" };
  await findRestoreTest(layout, (statement) => {
    const { source_id, backup_id, result, finished_at } = statement.predicate;
    // Ids are in the order of time: this test, and those before it, are of backups that were there
    // when it ended.
    const end = firstIdAt("backup", Date.parse(finished_at));
    if (newest.id >= end) return true;
    // Ignore an id from the future: a wrong clock made it, and it would stay the newest for good.
    const id = backup_id < end ? backup_id : end;
    if (source_id === sourceId && result === "passed" && id > newest.id) {
      newest.statement = statement;
      newest.id = id;
    }
    return false;
  });
  return newest.statement;
}

async function findBackup(
  layout: Layout,
  wanted: (statement: BackupStatement) => boolean,
): Promise<Remembered<BackupStatement> | null> {
  for (const file of await listAllReceipts(layout)) {
    if (file.kind !== "backup") continue;
    const statement = await readStatement(file);
    if (statement === null || receiptKind(statement) !== "backup") continue;
    if (wanted(statement as BackupStatement)) return { file, statement: statement as BackupStatement };
  }
  return null;
}

async function findRestoreTest(
  layout: Layout,
  wanted: (statement: RestoreTestStatement) => boolean,
): Promise<Remembered<RestoreTestStatement> | null> {
  for (const file of await listAllReceipts(layout)) {
    if (file.kind !== "restore_test") continue;
    const statement = await readStatement(file);
    if (statement === null || receiptKind(statement) !== "restore_test") continue;
    if (wanted(statement as RestoreTestStatement))
      return { file, statement: statement as RestoreTestStatement };
  }
  return null;
}

/**
 * The ids of all backups that passed a restore test of this agent, and of those whose newest
 * restore test passed.
 */
export async function passedBackups(layout: Layout): Promise<{ ever: Set<string>; lately: Set<string> }> {
  const [ever, lately, tested] = [new Set<string>(), new Set<string>(), new Set<string>()];
  await findRestoreTest(layout, ({ predicate: { backup_id: id, result } }) => {
    if (result === "passed") ever.add(id);
    if (result === "passed" && !tested.has(id)) lately.add(id);
    tested.add(id);
    return false;
  });
  return { ever, lately };
}
