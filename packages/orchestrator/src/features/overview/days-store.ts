import { plainArray } from "../../platform/database/packed.ts";
import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";

/** What some receipts add to a day of a source (migration 0010). */
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
  schemaChanged: boolean;
  environmentChanged: boolean;
  restore_ms: number | null;
  ownChecks: number | null;
}

const ADD: PreparedQuery = {
  name: "overview_add_to_days",
  text: `insert into source_days as known (org_id, source_id, day, backups, passed, failed, size_bytes, schema_digest,
      environment_digest, schema_changed, environment_changed, restore_ms, own_checks)
    select * from unnest($1::text[], $2::text[], $3::date[], $4::int[], $5::int[], $6::int[], $7::bigint[], $8::text[],
      $9::text[], $10::boolean[], $11::boolean[], $12::bigint[], $13::int[])
    on conflict (org_id, day, source_id) do update set
      backups = known.backups + excluded.backups,
      passed = known.passed + excluded.passed,
      failed = known.failed + excluded.failed,
      size_bytes = coalesce(excluded.size_bytes, known.size_bytes),
      schema_changed = known.schema_changed or excluded.schema_changed
        or coalesce(known.schema_digest <> excluded.schema_digest, false),
      environment_changed = known.environment_changed or excluded.environment_changed
        or coalesce(known.environment_digest <> excluded.environment_digest, false),
      schema_digest = coalesce(excluded.schema_digest, known.schema_digest),
      environment_digest = coalesce(excluded.environment_digest, known.environment_digest),
      restore_ms = coalesce(excluded.restore_ms, known.restore_ms),
      own_checks = coalesce(excluded.own_checks, known.own_checks)`,
};

/** One row a source and day. */
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
  ]);
}
