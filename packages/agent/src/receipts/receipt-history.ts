import { firstIdAt, timeOfId } from "@attestore/contract";
import { receiptKind, type BackupStatement, type Profile, type RestoreTestStatement } from "@attestore/proof";
import { type PassedTest, STEADY_DAYS } from "../checks/index.ts";
import { tablesOfMetadata } from "../engines/tables-of-metadata.ts";
import type { Layout } from "../state/layout.ts";
import { lostBackups } from "./lost-backups.ts";
import { listAllReceipts, readStatement, type ReceiptFile } from "./receipt-files.ts";

/** Reads this host's own receipts as its history: each states its subject. */
export interface Remembered<S> {
  readonly file: ReceiptFile;
  readonly statement: S;
}

/** The newest backup of a source that this agent made, of those that the service did not lose. */
export async function newestBackup(
  layout: Layout,
  sourceId: string,
): Promise<Remembered<BackupStatement> | null> {
  const lost = await lostBackups(layout);
  return findBackup(
    layout,
    ({ predicate }) => predicate.source_id === sourceId && !lost.has(predicate.backup_id),
  );
}

/** This agent's own record of one backup, whatever its age. */
export async function backupById(
  layout: Layout,
  backupId: string,
): Promise<Remembered<BackupStatement> | null> {
  return findBackup(layout, ({ predicate }) => predicate.backup_id === backupId);
}

/**
 * The newest restore test of a source, with any result. A pass of a backup that the service lost
 * says nothing of what can be restored.
 */
export async function newestRestoreTest(
  layout: Layout,
  sourceId: string,
): Promise<Remembered<RestoreTestStatement> | null> {
  const lost = await lostBackups(layout);
  return findRestoreTest(
    layout,
    ({ predicate: { source_id, backup_id, result } }) =>
      source_id === sourceId && (result === "failed" || !lost.has(backup_id)),
  );
}

const DAY_MS = 24 * 3600 * 1000;

/**
 * The restore tests of a source that passed, newest backup first: those of backups at most 90 days
 * old, and in any case the newest. `upTo` leaves out newer backups, because what an older backup
 * lacks was not lost since.
 */
export async function passedTests(
  layout: Layout,
  sourceId: string,
  { upTo, now = Date.now() }: { readonly upTo?: string; readonly now?: number } = {},
): Promise<PassedTest[]> {
  const oldest = firstIdAt("backup", now - STEADY_DAYS * DAY_MS);
  const found: PassedTest[] = [];
  let older: PassedTest | null = null;
  await findRestoreTest(
    layout,
    ({ predicate: { source_id, backup_id, result, finished_at, checks, profile } }) => {
      // Ids are in the order of time: this test, and those before it, are about backups that
      // existed when it ended.
      const end = firstIdAt("backup", Date.parse(finished_at));
      if (end < oldest && (found.length > 0 || (older !== null && older.backupId >= end))) return true;
      // Ignore an id from the future: a wrong clock made it, and it would stay the newest for good.
      const id = backup_id < end ? backup_id : end;
      if (source_id !== sourceId || result !== "passed" || (upTo !== undefined && id > upTo)) return false;
      const madeAt = new Date(timeOfId(id)).toISOString();
      const passed = {
        at: finished_at,
        backupId: backup_id,
        madeAt,
        checks,
        ...(profile === undefined ? {} : { profile }),
      };
      if (id >= oldest) found.push(passed);
      else if (older === null || id > older.backupId) older = passed;
      return false;
    },
  );
  if (found.length === 0 && older !== null) found.push(older);
  const sorted = found.toSorted((a, b) => (a.madeAt === b.madeAt ? 0 : a.madeAt < b.madeAt ? 1 : -1));
  return withTables(layout, sorted);
}

/** Adds the tables that the newest backup's receipt names, if this host has that receipt. */
async function withTables(layout: Layout, [newest, ...older]: readonly PassedTest[]): Promise<PassedTest[]> {
  if (newest === undefined) return [];
  const backup = await backupById(layout, newest.backupId);
  const names = tablesOfMetadata(backup?.statement.predicate.source_metadata ?? {}).map(({ name }) => name);
  return [{ ...newest, tables: names }, ...older];
}

/** Whether a restore test of the source names the draw of this event, whatever came of it. */
export async function isDrawUsed(layout: Layout, sourceId: string, eventId: string): Promise<boolean> {
  const test = await findRestoreTest(
    layout,
    ({ predicate }) => predicate.source_id === sourceId && predicate.draw?.leaf.id === eventId,
  );
  return test !== null;
}

/**
 * The source's restore tests that ended at or after a time, newest first, whatever came of them.
 */
export async function restoreTestsSince(
  layout: Layout,
  sourceId: string,
  since: number,
): Promise<{ backupId: string; at: string; isDrawn: boolean }[]> {
  const found: { backupId: string; at: string; isDrawn: boolean }[] = [];
  await findRestoreTest(layout, ({ predicate: { source_id, backup_id, finished_at, draw } }) => {
    if (Date.parse(finished_at) < since) return true;
    if (source_id === sourceId)
      found.push({ backupId: backup_id, at: finished_at, isDrawn: draw !== undefined });
    return false;
  });
  return found;
}

/** When this agent's newest passed restore test of a backup ended; null if it passed none. */
export async function lastPassed(layout: Layout, backupId: string): Promise<string | null> {
  const test = await findRestoreTest(
    layout,
    ({ predicate }) => predicate.backup_id === backupId && predicate.result === "passed",
  );
  return test?.statement.predicate.finished_at ?? null;
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
 * The ids of all backups that passed a restore test of this agent, of those whose newest restore
 * test passed, and of those of them in which that test found nothing suspicious.
 */
export async function passedBackups(
  layout: Layout,
): Promise<{ ever: Set<string>; lately: Set<string>; clean: Set<string> }> {
  const [ever, lately, clean] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const tested = new Set<string>();
  await findRestoreTest(layout, ({ predicate: { backup_id: id, result, profile } }) => {
    if (result === "passed") ever.add(id);
    if (result === "passed" && !tested.has(id)) {
      lately.add(id);
      if (isClean(profile)) clean.add(id);
    }
    tested.add(id);
    return false;
  });
  return { ever, lately, clean };
}

/**
 * The newest backup of a source whose newest test passed and found nothing suspicious, of those
 * that the service did not lose.
 */
export async function lastClean(layout: Layout, sourceId: string): Promise<string | null> {
  const lost = await lostBackups(layout);
  const tested = new Set(lost.keys());
  let newest: string | null = null;
  await findRestoreTest(layout, ({ predicate: { backup_id: id, source_id, result, profile } }) => {
    const isNewestTest = !tested.has(id);
    tested.add(id);
    if (source_id !== sourceId || !isNewestTest || result !== "passed" || !isClean(profile)) return false;
    if (newest === null || id > newest) newest = id;
    return false;
  });
  return newest;
}

function isClean(profile: Profile | undefined): boolean {
  return profile === undefined || profile.suspicious.length === 0;
}
