import type { ConfigAnswer, ConfigRequest, DeliveredConfigRequest } from "@attestore/contract";
import type { Insertable } from "kysely";
import { runPrepared, type PreparedQuery } from "../../platform/database/prepared.ts";
import type { ConfigRequestsTable, DatabaseTransaction } from "../../platform/database/schema.ts";
import { POLICY } from "../../platform/http/route/policy.ts";

/** An agent that does not answer is asked again after this time: it runs an id once. */
const AGAIN_AFTER = "interval '30 seconds'";

/** Which rows an agent is to get, as SQL over `config_requests`. */
export function isDue(agent: string, now: string): string {
  return `config_requests.agent_id = ${agent} and config_requests.expires_at > ${now}
    and (config_requests.status = 'queued'
      or (config_requests.status = 'delivered' and config_requests.delivered_at < ${now} - ${AGAIN_AFTER}))`;
}

export interface StoredConfigRequest {
  id: string;
  org_id: string;
  agent_id: string;
  asked_by: string;
  request: ConfigRequest;
  status: "queued" | "delivered" | "answered";
  created_at: Date;
  expires_at: Date;
  answered_at: Date | null;
  answer: ConfigAnswer | null;
}

const COLUMNS = [
  "id",
  "org_id",
  "agent_id",
  "asked_by",
  "request",
  "status",
  "created_at",
  "expires_at",
  "answered_at",
  "answer",
] as const;

export async function insertConfigRequest(
  tx: DatabaseTransaction,
  request: Insertable<ConfigRequestsTable>,
): Promise<StoredConfigRequest> {
  return tx.insertInto("config_requests").values(request).returning(COLUMNS).executeTakeFirstOrThrow();
}

/** How many requests an agent has that it did not answer and may still run. */
export async function countOpen(tx: DatabaseTransaction, agentId: string, now: Date): Promise<number> {
  const { open } = await tx
    .selectFrom("config_requests")
    .select(({ fn }) => fn.countAll<number>().as("open"))
    .where("agent_id", "=", agentId)
    .where("status", "<>", "answered")
    .where("expires_at", ">", now)
    .executeTakeFirstOrThrow();
  return Number(open);
}

export async function findConfigRequest(
  tx: DatabaseTransaction,
  orgId: string,
  id: string,
): Promise<StoredConfigRequest | null> {
  const row = await tx
    .selectFrom("config_requests")
    .select(COLUMNS)
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  return row ?? null;
}

const TAKE: PreparedQuery = {
  name: "config_requests_take",
  text: `with due as (
      select id from config_requests where ${isDue("$1", "$2::timestamptz")}
      order by id limit $3 for update skip locked
    )
    update config_requests set status = 'delivered', delivered_at = $2 from due
    where config_requests.id = due.id
    returning config_requests.id, asked_by, request`,
};

/**
 * Ends requests of people who may no longer make them: they were removed, left, or have another
 * role now.
 */
async function endUnentitled(tx: DatabaseTransaction, agentId: string, now: Date): Promise<void> {
  await tx
    .updateTable("config_requests")
    .set({ expires_at: now })
    .where("agent_id", "=", agentId)
    .where("status", "<>", "answered")
    .where("expires_at", ">", now)
    .where((request) =>
      request.not(
        request.exists(
          request
            .selectFrom("users")
            .whereRef("users.id", "=", "config_requests.asked_by")
            .where("users.status", "=", "active")
            .where("users.removed_at", "is", null)
            .where("users.role", "in", POLICY["hosts.configure"]),
        ),
      ),
    )
    .execute();
}

/**
 * Takes an agent's open requests, oldest first, of people who may make them at this moment. Of two
 * heartbeats at once, only one gets each.
 */
export async function takeConfigRequests(
  tx: DatabaseTransaction,
  agentId: string,
  now: Date,
  most: number,
): Promise<DeliveredConfigRequest[]> {
  await endUnentitled(tx, agentId, now);
  const rows = await runPrepared<DeliveredConfigRequest>(tx, TAKE, [agentId, now, most]);
  return rows
    .map(({ id, asked_by, request }) => ({ id, asked_by, request }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Locks it, so that of two answers at once the second sees the first. */
export async function lockDelivered(
  tx: DatabaseTransaction,
  { agentId, id }: { agentId: string; id: string },
): Promise<Pick<StoredConfigRequest, "request" | "status"> | null> {
  const row = await tx
    .selectFrom("config_requests")
    .select(["request", "status"])
    .where("id", "=", id)
    .where("agent_id", "=", agentId)
    .where("status", "<>", "queued")
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

export async function setAnswer(
  tx: DatabaseTransaction,
  { id, answer, at }: { id: string; answer: ConfigAnswer; at: Date },
): Promise<void> {
  await tx
    .updateTable("config_requests")
    .set({ status: "answered", answered_at: at, answer: JSON.stringify(answer) })
    .where("id", "=", id)
    .execute();
}
