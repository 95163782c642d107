import { firstIdAt } from "@attestore/contract";
import { sql } from "kysely";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import type { SourceRow } from "./store.ts";

export interface Failure {
  kind: "backup_failed" | "restore_failed" | "attestation_failed";
  /** `2026-11-21`, UTC */
  day: string;
  at: Date;
}

/** Gravest first. */
export const FAILURES = [
  "restore_failed",
  "backup_failed",
  "attestation_failed",
] as const satisfies Failure["kind"][];

export interface TestedSource extends SourceRow {
  /** When the restore test ran whose result came last, however late it came. */
  tested_at: Date | null;
}

/**
 * When a run of this kind last came to a result: for `restore_failed` the last restore test, for
 * the others the last backup.
 */
export function lastDone(
  {
    tested_at,
    last_proven_at,
    last_backup_at,
  }: Pick<TestedSource, "tested_at" | "last_proven_at" | "last_backup_at">,
  kind: Failure["kind"],
): Date | null {
  if (kind !== "restore_failed") return last_backup_at;
  if (tested_at === null || last_proven_at === null) return tested_at ?? last_proven_at;
  return tested_at > last_proven_at ? tested_at : last_proven_at;
}

/** The failures that agents reported, by source, once for each kind and day. */
export async function readFailures(
  tx: DatabaseTransaction,
  orgId: string,
  sourceIds: readonly string[],
  first: string,
): Promise<Map<string, Failure[]>> {
  if (sourceIds.length === 0) return new Map();
  const { rows } = await sql<Failure & { source_id: string }>`
    select source_id, kind, (least(occurred_at, created_at) at time zone 'UTC')::date::text as day,
      max(least(occurred_at, created_at)) as at
    from events
    where org_id = ${orgId} and source_id = any(${[...sourceIds]}) and id >= ${firstIdAt("event", Date.parse(first))}
      and kind in ('backup_failed', 'restore_failed', 'attestation_failed')
    group by 1, 2, 3`.execute(tx);
  return Map.groupBy(rows, ({ source_id }) => source_id);
}

/**
 * The newest failure of each kind from before the first day, by source, unless such a run has come
 * to a result since. Without this, a source that never worked again would look better as time
 * passes. Sources where all kinds came to a result since the first day are not read.
 */
export async function readStandingFailures(
  tx: DatabaseTransaction,
  orgId: string,
  sources: readonly TestedSource[],
  first: string,
): Promise<Map<string, Failure[]>> {
  const before = Date.parse(first);
  const asked = sources.flatMap((source) =>
    FAILURES.map((kind) => ({ id: source.id, kind, done: lastDone(source, kind) })).filter(
      ({ done }) => done === null || done.getTime() < before,
    ),
  );
  if (asked.length === 0) return new Map();
  const { rows } = await sql<Failure & { source_id: string }>`
    select asked.source_id, asked.kind, (failed.at at time zone 'UTC')::date::text as day, failed.at
    from unnest(${asked.map(({ id }) => id)}::text[], ${asked.map(({ kind }) => kind)}::text[],
        ${asked.map(({ done }) => done?.toISOString() ?? null)}::timestamptz[],
        ${asked.map(({ done }) => firstIdAt("event", done?.getTime() ?? 0))}::text[])
      as asked (source_id, kind, done_at, from_id),
    lateral (select least(occurred_at, created_at) as at from events
      where org_id = ${orgId} and events.source_id = asked.source_id and events.kind = asked.kind
        and events.kind in ('backup_failed', 'restore_failed', 'attestation_failed')
        and id >= asked.from_id and id < ${firstIdAt("event", before)}
        and (asked.done_at is null or least(occurred_at, created_at) > asked.done_at)
      order by id desc limit 1) as failed`.execute(tx);
  return Map.groupBy(rows, ({ source_id }) => source_id);
}
