import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../../platform/database/schema.ts";
import { runInOrg } from "../../../platform/database/org-scope.ts";
import { eachOf } from "../../../platform/jobs/each-of.ts";
import { type About, endTrouble, type Trouble } from "./incident-store.ts";
import { type Resolution, notifyEnd } from "./notify-incident.ts";

type Ended = Trouble & { kind: MissingKind; ended_at: Date };

/** For `incidents`: what did not happen. */
export type MissingKind = "backup_missed" | "restore_test_missed" | "agent_silent";

/**
 * Sends a message when something missing is no longer missing, because no log entry says so. The
 * transaction of the message also records that it was sent, so only the replica that changes the
 * row first sends it. One message that cannot be written does not block the others.
 */
export async function noticeEnds(db: Database, signal: AbortSignal): Promise<void> {
  const { rows } = await sql<{ id: string; org_id: string }>`
    select told.id, told.org_id from ${TOLD_AND_ENDED} order by incidents.ended_at`.execute(db);
  await eachOf(rows, signal, ({ id, org_id }) =>
    runInOrg(db, org_id, async (tx) => {
      const { rows: ended } = await sql<Ended>`${ENDED} and told.id = ${id}`.execute(tx);
      for (const one of ended) await notify(tx, one);
    }),
  );
}

/**
 * The same for one kind of incident of one source or agent, so that the previous one is over before
 * the next begins.
 */
export async function noticeEndOf(tx: DatabaseTransaction, about: About, kind: MissingKind): Promise<void> {
  const whose =
    "sourceId" in about ? sql`told.source_id = ${about.sourceId}` : sql`told.agent_id = ${about.agentId}`;
  const { rows } = await sql<Ended>`${ENDED} and told.kind = ${kind} and ${whose}`.execute(tx);
  for (const ended of rows) await notify(tx, ended);
}

const TOLD_AND_ENDED = sql`notification_incidents as told join incidents on incidents.id = told.id
  where told.ended_at is null and incidents.ended_at is not null`;
const ENDED = sql`
  select told.id, told.org_id, told.kind, told.source_id, told.agent_id, told.began_at, incidents.ended_at
  from ${TOLD_AND_ENDED}`;

async function notify(tx: DatabaseTransaction, ended: Ended): Promise<void> {
  const { source_id, agent_id, ended_at: at } = ended;
  const trouble = await endTrouble(tx, ended.id, at);
  if (trouble === null) return;
  const about = source_id === null ? { agentId: agent_id ?? "" } : { sourceId: source_id };
  await notifyEnd(tx, trouble, { about, at, resolution: await resolutionOf(tx, ended), more: {} });
}

/** The records show what ended it. The incident itself does not say. */
async function resolutionOf(tx: DatabaseTransaction, ended: Ended): Promise<Resolution> {
  switch (ended.kind) {
    case "agent_silent": {
      const { rows } = await sql`
        select from agents where id = ${ended.agent_id} and status = 'active' and last_seen_at > ${ended.began_at}`.execute(
        tx,
      );
      return rows.length > 0 ? "recovered" : "withdrawn";
    }
    case "backup_missed": {
      const { rows } = await sql`
        select from backups join incidents on incidents.id = ${ended.id}
        where backups.source_id = ${ended.source_id} and created_at = incidents.ended_at limit 1`.execute(tx);
      return rows.length > 0 ? "recovered" : "withdrawn";
    }
    case "restore_test_missed": {
      // As PostgreSQL writes it, which is more exact than a Date.
      const { rows: incidents } = await sql<{ ended_at: string | null }>`
        select ended_at::text as ended_at from incidents where id = ${ended.id}`.execute(tx);
      const { rows } = await sql<{ result: string }>`
        select result from receipts
        where org_id = ${ended.org_id} and source_id = ${ended.source_id} and kind = 'restore_test'
          and created_at = ${incidents[0]?.ended_at ?? null}::timestamptz
        order by id limit 1`.execute(tx);
      const [first] = rows;
      if (first === undefined) return "withdrawn";
      return first.result === "passed" ? "recovered" : "failed";
    }
  }
}
