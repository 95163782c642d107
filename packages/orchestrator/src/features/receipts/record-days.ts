import { createHash } from "node:crypto";
import type { BackupPredicate, RestoreTestPredicate } from "@attestore/proof";
import type { PlacedEntry } from "../../log/sequencer/entry.ts";
import type { PreparedQuery, SqlSession } from "../../platform/database/sql-session.ts";
import { type ReceiptEntry, happenedAt } from "./receipt-entry.ts";
import { otherObjectsIn } from "../schema-changes/other-objects.ts";
import { plainArray } from "../../platform/database/packed.ts";

/** Checks that the agent adds by itself; somebody wrote all others. */
const INFERRED = "inferred:";

/**
 * Records what receipts say about their sources' days, in the transaction that records the
 * receipts. That transaction locks the organisation's log, so no two change one day at once. An
 * agent submits in the order of its runs, so the last one recorded for a day is the newest.
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
    objectsDigest: null,
    definitionsDigest: null,
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
  // The fields that drift compares (features/drift).
  const environment = digest([
    engine,
    engine_version,
    dump_format,
    cipher.name,
    recipients,
    agent_id,
    agent_version,
  ]);
  // An agent that reports more from now on changes nothing at the source.
  const others = otherObjectsIn(source_metadata["other_objects"]);
  const objects = others === null ? null : digest([source_metadata["exact_schema_hash"], others.sha256]);
  const definitions = !others?.definitions ? null : digest([others.definitions]);
  row.schemaChanged ||=
    (row.schemaDigest !== null && row.schemaDigest !== schema) ||
    isChanged(row.objectsDigest, objects) ||
    isChanged(row.definitionsDigest, definitions);
  row.environmentChanged ||= row.environmentDigest !== null && row.environmentDigest !== environment;
  row.backups += 1;
  row.sizeBytes = size_bytes;
  row.schemaDigest = schema;
  row.environmentDigest = environment;
  row.objectsDigest = objects ?? row.objectsDigest;
  row.definitionsDigest = definitions ?? row.definitionsDigest;
}

function addTest(row: DayRow, { result, phases, checks }: RestoreTestPredicate): void {
  row[result] += 1;
  row.ownChecks = checks.filter(({ id }) => !id.startsWith(INFERRED)).length;
  // The checks run after the data is restored.
  if (result === "passed" && phases !== undefined)
    row.restore_ms = Math.round(phases.download_ms + phases.decrypt_ms + phases.restore_ms);
}

/** Of two that are known. */
const isChanged = (before: string | null, now: string | null): boolean =>
  before !== null && now !== null && before !== now;

/** Long enough to show a difference. Nobody gains anything from making two alike. */
function digest(fields: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(fields)).digest("hex").slice(0, 16);
}

/** The numbers that some receipts add to a day of a source (migration 0010). */
export interface DayRow {
  orgId: string;
  sourceId: string;
  /** `2026-11-21`, UTC */
  day: string;
  backups: number;
  passed: number;
  failed: number;
  sizeBytes: number | null;
  schemaDigest: string | null;
  environmentDigest: string | null;
  /** Null of agents and engines that report no other objects. */
  objectsDigest: string | null;
  definitionsDigest: string | null;
  schemaChanged: boolean;
  environmentChanged: boolean;
  restore_ms: number | null;
  ownChecks: number | null;
}

const ADD: PreparedQuery = {
  name: "overview_add_to_days",
  text: `insert into source_days as known (org_id, source_id, day, backups, passed, failed, size_bytes, schema_digest,
      environment_digest, schema_changed, environment_changed, restore_ms, own_checks, objects_digest, definitions_digest)
    select * from unnest($1::text[], $2::text[], $3::date[], $4::int[], $5::int[], $6::int[], $7::bigint[], $8::text[],
      $9::text[], $10::boolean[], $11::boolean[], $12::bigint[], $13::int[], $14::text[], $15::text[])
    on conflict (org_id, day, source_id) do update set
      backups = known.backups + excluded.backups,
      passed = known.passed + excluded.passed,
      failed = known.failed + excluded.failed,
      size_bytes = coalesce(excluded.size_bytes, known.size_bytes),
      schema_changed = known.schema_changed or excluded.schema_changed
        or coalesce(known.schema_digest <> excluded.schema_digest, false)
        or coalesce(known.objects_digest <> excluded.objects_digest, false)
        or coalesce(known.definitions_digest <> excluded.definitions_digest, false),
      environment_changed = known.environment_changed or excluded.environment_changed
        or coalesce(known.environment_digest <> excluded.environment_digest, false),
      schema_digest = coalesce(excluded.schema_digest, known.schema_digest),
      environment_digest = coalesce(excluded.environment_digest, known.environment_digest),
      objects_digest = coalesce(excluded.objects_digest, known.objects_digest),
      definitions_digest = coalesce(excluded.definitions_digest, known.definitions_digest),
      restore_ms = coalesce(excluded.restore_ms, known.restore_ms),
      own_checks = coalesce(excluded.own_checks, known.own_checks)`,
};

/** One row for each source and day. */
export function addToDays(session: SqlSession, rows: readonly DayRow[]): Promise<unknown> {
  const column = (value: (row: DayRow) => string | number | null): string => plainArray(rows.map(value));
  return session.run(ADD, [
    column(({ orgId }) => orgId),
    column(({ sourceId }) => sourceId),
    column(({ day }) => day),
    column(({ backups }) => backups),
    column(({ passed }) => passed),
    column(({ failed }) => failed),
    column(({ sizeBytes }) => sizeBytes),
    column(({ schemaDigest }) => schemaDigest),
    column(({ environmentDigest }) => environmentDigest),
    column(({ schemaChanged }) => String(schemaChanged)),
    column(({ environmentChanged }) => String(environmentChanged)),
    column(({ restore_ms }) => restore_ms),
    column(({ ownChecks }) => ownChecks),
    column(({ objectsDigest }) => objectsDigest),
    column(({ definitionsDigest }) => definitionsDigest),
  ]);
}
