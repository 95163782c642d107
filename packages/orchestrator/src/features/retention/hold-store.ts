import type { RetentionHold } from "@attestore/contract";
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import type { Accepted } from "./sudden-change.ts";

/** What stopped a source's retention, and since when; and what somebody accepted before. */
export interface HoldState {
  held: { since: Date; hold: RetentionHold } | null;
  accepted: Accepted;
}

export async function readHold(db: Database, sourceId: string): Promise<HoldState> {
  const row = await db
    .selectFrom("sources")
    .select(["retention_held_at", "retention_hold", "retention_accepted_at", "retention_accepted_bytes"])
    .where("id", "=", sourceId)
    .executeTakeFirstOrThrow();
  const { retention_held_at: since, retention_hold: hold } = row;
  return {
    held: since === null || hold === null ? null : { since, hold },
    accepted: { at: row.retention_accepted_at, bytes: row.retention_accepted_bytes },
  };
}

/** Withdraws all announcements: when retention resumes, removals are announced again. */
export async function setHeld(
  tx: DatabaseTransaction,
  sourceId: string,
  hold: RetentionHold,
  at: Date,
): Promise<void> {
  await tx
    .updateTable("sources")
    .set({ retention_held_at: at, retention_hold: JSON.stringify(hold) })
    .where("id", "=", sourceId)
    .execute();
  await tx
    .updateTable("backups")
    .set({ expires_at: null, removal_told_at: null })
    .where("source_id", "=", sourceId)
    .where("status", "=", "available")
    .where(sql<boolean>`expires_at is not null`)
    .execute();
}

export async function setResumed(
  tx: DatabaseTransaction,
  sourceId: string,
  accepted: { at: Date; bytes: number },
): Promise<void> {
  await tx
    .updateTable("sources")
    .set({
      retention_held_at: null,
      retention_hold: null,
      retention_accepted_at: accepted.at,
      retention_accepted_bytes: accepted.bytes,
    })
    .where("id", "=", sourceId)
    .execute();
}
