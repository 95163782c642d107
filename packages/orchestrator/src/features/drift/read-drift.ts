import type { DriftIndicator } from "@attestore/contract";
import type { Database } from "../../platform/database/schema.ts";
import type { Page } from "../../platform/http/listing.ts";
import { driftOfBackup, driftOfTest } from "./compare.ts";
import { observeBackups, type ObservedBackup, readSummaries } from "./observed.ts";
import { schemaChanges } from "./schema-changes.ts";

/** The indicators of a page of backups, newest first. There may be none on a page, and more after it. */
export async function readDrift(
  db: Database,
  sourceId: string,
  page: Page,
): Promise<{ items: DriftIndicator[]; next_cursor: string | null }> {
  // One more, which the oldest of the page is compared with.
  const backups = await observeBackups(db, sourceId, page.before, page.limit + 1);
  const found: DriftIndicator[] = [];
  const schema: { indicator: DriftIndicator; before: string }[] = [];
  let earlierTested: ObservedBackup | null = null;
  for (const [index, backup] of backups.toReversed().entries()) {
    const before = backups[backups.length - index];
    if (before !== undefined)
      for (const indicator of driftOfBackup(before, backup)) {
        found.push(indicator);
        if (indicator.kind === "schema") schema.push({ indicator, before: before.id });
      }
    const isShown = backups.length <= page.limit || before !== undefined;
    if (isShown) found.push(...driftOfTest(backup, earlierTested));
    if (backup.test !== null) earlierTested = backup;
  }
  await explain(db, schema);
  const last = backups.length > page.limit ? backups[page.limit - 1] : undefined;
  return {
    items: found.toReversed(),
    next_cursor: last === undefined ? null : Buffer.from(last.id, "latin1").toString("base64url"),
  };
}

async function explain(
  db: Database,
  schema: readonly { indicator: DriftIndicator; before: string }[],
): Promise<void> {
  const ids = schema.flatMap(({ indicator, before }) => [before, indicator.backup_id]);
  const summaries = await readSummaries(db, [...new Set(ids)]);
  for (const { indicator, before } of schema) {
    const changes = schemaChanges(summaries.get(before), summaries.get(indicator.backup_id));
    if (changes !== null) indicator.changes = changes;
  }
}
