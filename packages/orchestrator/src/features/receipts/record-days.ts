import { createHash } from "node:crypto";
import type { BackupPredicate, RestoreTestPredicate } from "@attestore/proof";
import type { PlacedEntry } from "../../log/entry.ts";
import type { SqlSession } from "../../platform/database/sql-session.ts";
import { happenedAt, type ReceiptEntry } from "./receipt-entry.ts";
import { addToDays, type DayRow } from "../overview/days-store.ts";

/** Checks that the agent makes up by itself; all others somebody wrote. */
const INFERRED = "inferred:";

/**
 * Notes what receipts say of their sources' days, in the transaction that records them. The lock on the organisation's log, which that
 * transaction holds, keeps two from changing one day at once; an agent submits in the order of its runs, so the last that is
 * recorded of a day is its newest.
 */
export function recordDays(
  session: SqlSession,
  placed: readonly PlacedEntry<ReceiptEntry>[],
): Promise<unknown> {
  const days = new Map<string, DayRow>();
  for (const { entry } of placed) {
    const { source_id: sourceId } = entry.statement.predicate;
    const day = happenedAt(entry).slice(0, 10);
    const key = `${sourceId} ${day}`;
    let row = days.get(key);
    if (row === undefined) days.set(key, (row = emptyDay(entry.orgId, sourceId, day)));
    if ("result" in entry.statement.predicate) addTest(row, entry.statement.predicate);
    else addBackup(row, entry.statement.predicate);
  }
  return addToDays(session, [...days.values()]);
}

function emptyDay(orgId: string, sourceId: string, day: string): DayRow {
  return {
    orgId,
    sourceId,
    day,
    backups: 0,
    passed: 0,
    failed: 0,
    sizeBytes: null,
    schemaDigest: null,
    environmentDigest: null,
    schemaChanged: false,
    environmentChanged: false,
    restore_ms: null,
    ownChecks: null,
  };
}

function addBackup(
  row: DayRow,
  { agent_id, agent_version, cipher, source_metadata, size_bytes }: BackupPredicate,
) {
  const { engine, engine_version, dump_format, schema_hash } = source_metadata;
  const recipients = cipher.recipients.toSorted();
  const schema = digest([schema_hash]);
  // The fields that drift is found in (features/drift).
  const environment = digest([
    engine,
    engine_version,
    dump_format,
    cipher.name,
    recipients,
    agent_id,
    agent_version,
  ]);
  row.schemaChanged ||= row.schemaDigest !== null && row.schemaDigest !== schema;
  row.environmentChanged ||= row.environmentDigest !== null && row.environmentDigest !== environment;
  row.backups += 1;
  row.sizeBytes = size_bytes;
  row.schemaDigest = schema;
  row.environmentDigest = environment;
}

function addTest(row: DayRow, { result, phases, checks }: RestoreTestPredicate): void {
  row[result] += 1;
  row.ownChecks = checks.filter(({ id }) => !id.startsWith(INFERRED)).length;
  // The checks come after the data are back.
  if (result === "passed" && phases !== undefined)
    row.restore_ms = Math.round(phases.download_ms + phases.decrypt_ms + phases.restore_ms);
}

/** Enough to see that something is another; nobody gains from making two alike. */
function digest(fields: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(fields)).digest("hex").slice(0, 16);
}
