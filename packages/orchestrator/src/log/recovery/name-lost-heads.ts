import { equalBytes, LOG_HEAD_LOST, toHex } from "@attestore/proof";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import {
  type PreparedQuery,
  type SqlSession,
  transactionSession,
} from "../../platform/database/sql-session.ts";
import { appendInTransaction } from "../events/append-in-transaction.ts";
import type { Head } from "../checkpoints/checkpoint-signer.ts";
import { readGenerations } from "../heads/generations.ts";
import { lockLogs } from "../append/locked-log.ts";

/**
 * `named`: an event of the log names it. `ended_forked`: it contradicts the remaining entries of
 * its generation, or another head that is named as lost, so nobody may accept it as a loss.
 * `not_ended`: it is of the present generation, or of one that this database does not know.
 */
export type NamedHead = "named" | "ended_forked" | "not_ended";

const NAMED: PreparedQuery = {
  name: "log_named_head",
  text: "select root_hash from log_lost_heads where org_id = $1 and origin = $2 and tree_size = $3",
};

const NAME: PreparedQuery = {
  name: "log_name_head",
  text: "insert into log_lost_heads (org_id, origin, tree_size, root_hash, event_id) values ($1, $2, $3, $4, $5)",
};

/**
 * Names a head of a generation that has ended, which the log's key signed and which is beyond the
 * remaining entries: appends `log_head_lost`, once. The caller has verified the signature. This
 * runs in the caller's transaction: a crash leaves the event and its row, or neither. Throws
 * LogCorruption if the log accepts nothing now.
 */
export async function nameLostHead(tx: DatabaseTransaction, orgId: string, head: Head): Promise<NamedHead> {
  const session = transactionSession(tx);
  const known = await lookUp(session, orgId, head);
  if (known !== null) return known;
  // Others who bring the same head wait here, and then find it named.
  await lockLogs(session, new Set([orgId]));
  const meanwhile = await lookUp(session, orgId, head);
  if (meanwhile !== null) return meanwhile;
  const [appended] = await appendInTransaction(tx, [
    {
      orgId,
      kind: LOG_HEAD_LOST,
      actorId: "service",
      occurredAt: new Date(),
      detail: { v: 1, origin: head.origin, tree_size: head.size, root_hash: toHex(head.rootHash) },
    },
  ]);
  if (appended === undefined) throw new Error("an event was not appended");
  await recordLostHead(session, orgId, head, appended.event.id);
  return "named";
}

/** Null for a lost head that no event names yet. */
async function lookUp(session: SqlSession, orgId: string, head: Head): Promise<NamedHead | null> {
  const generation = (await readGenerations(session, orgId)).find(({ ended }) => ended === head.origin);
  if (generation === undefined) return "not_ended";
  if (head.size <= generation.size) return "ended_forked";
  const [named] = await session.run<{ root_hash: Buffer }>(NAMED, [orgId, head.origin, head.size]);
  if (named === undefined) return null;
  return equalBytes(named.root_hash, head.rootHash) ? "named" : "ended_forked";
}

export async function recordLostHead(
  session: SqlSession,
  orgId: string,
  { origin, size, rootHash }: Head,
  eventId: string,
): Promise<void> {
  await session.run(NAME, [orgId, origin, size, Buffer.from(rootHash), eventId]);
}
