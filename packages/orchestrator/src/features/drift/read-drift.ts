import { type DriftIndicator, MAX_PAGE_BYTES } from "@attestore/contract";
import type { ArchivedEnvelopes } from "../../log/archive/archived-envelopes.ts";
import type { Database } from "../../platform/database/schema.ts";
import { cursorOf, type Page } from "../../platform/http/route/pagination.ts";
import { apart } from "../schema-changes/other-objects.ts";
import { driftOfBackup, driftOfTest, OTHERS } from "./compare.ts";
import { observeBackups, type ObservedBackup } from "./observed.ts";

/**
 * The changes of one page of backups, newest first. A page can have none although later pages have
 * some. It has `limit` backups, or fewer if those have much to tell.
 */
export async function readDrift(
  db: Database,
  envelopes: ArchivedEnvelopes,
  sourceId: string,
  page: Page,
): Promise<{ items: DriftIndicator[]; next_cursor: string | null }> {
  // One more, to compare the page's oldest with.
  const { backups, isCut } = await observeBackups(db, envelopes, sourceId, page.before, page.limit + 1);
  const count = isCut ? backups.length - 1 : Math.min(page.limit, backups.length);
  const items: DriftIndicator[] = [];
  let bytes = 0;
  for (const [index, backup] of backups.slice(0, count).entries()) {
    const found = driftAt(backups, index).toReversed();
    bytes += JSON.stringify(found).length;
    const last = backups[index - 1];
    if (bytes > MAX_PAGE_BYTES && last !== undefined) return { items, next_cursor: cursorOf(last.id) };
    items.push(...found);
    if (index === count - 1 && count < backups.length) return { items, next_cursor: cursorOf(backup.id) };
  }
  return { items, next_cursor: null };
}

/** The changes since the backup before and the test before, among those that were read. */
function driftAt(backups: readonly ObservedBackup[], index: number): DriftIndicator[] {
  const backup = backups[index];
  if (backup === undefined) return [];
  const before = backups[index + 1];
  const found = before === undefined ? [] : driftOfBackup(before, backup);
  const changes = backup.schemaChanges;
  if (changes !== null) {
    const both = [before?.others, backup.others].filter((each) => each !== null && each !== undefined);
    const { others, rest } = apart(changes, ...both);
    for (const indicator of found)
      if (indicator.kind === "schema") indicator.changes = indicator.field === OTHERS ? others : rest;
  }
  const earlierTested = backups.slice(index + 1).find(({ test }) => test !== null) ?? null;
  return [...found, ...driftOfTest(backup, earlierTested)];
}
