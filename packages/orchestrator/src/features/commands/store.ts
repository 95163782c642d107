import type { CommandProgress, DeliveredCommand } from "@attestore/contract";
import { sql, type Insertable } from "kysely";
import { runPrepared, type PreparedQuery } from "../../platform/database/prepared.ts";
import type { CommandsTable, Database, DatabaseTransaction } from "../../platform/database/schema.ts";

const MAX_DELIVERED = 100;

export async function insertCommand(
  tx: DatabaseTransaction,
  command: Insertable<CommandsTable>,
): Promise<void> {
  await tx.insertInto("commands").values(command).execute();
}

/**
 * Changes only commands that were delivered to this agent. An id that it acknowledges again, or
 * never got, changes nothing.
 */
export async function setAcked(
  tx: DatabaseTransaction,
  agentId: string,
  ids: readonly string[],
  at: Date,
): Promise<void> {
  await tx
    .updateTable("commands")
    .set({ status: "acked", acked_at: at })
    .where("agent_id", "=", agentId)
    .where("status", "=", "delivered")
    .where("id", "in", ids)
    .execute();
}

interface DeliveredRow {
  id: string;
  kind: "backup" | "restore_test";
  params: { backup_id?: string };
  created_at: Date;
  attempts: number;
  source_id: string;
  slug: string;
  engine: string;
}

const TAKE_FOR_DELIVERY: PreparedQuery = {
  name: "commands_take_for_delivery",
  text: `with due as (
      select commands.id, sources.slug, sources.engine
      from commands join sources on sources.id = commands.source_id
      where commands.agent_id = $1 and commands.ended_at is null and sources.removed_at is null
        and (commands.status = 'queued' or (commands.status = 'delivered' and commands.delivered_at < $2))
      order by commands.id limit ${MAX_DELIVERED}
      for update of commands skip locked
    )
    update commands set status = 'delivered', delivered_at = $3, attempts = attempts + 1
    from due where commands.id = due.id
    returning commands.id, kind, params, created_at, attempts, source_id, due.slug, due.engine`,
};

/**
 * Hands out queued commands, oldest first, and again those delivered before `notSince` and never
 * acknowledged. One statement locks and changes the rows. Of two heartbeats at once, the second
 * skips the rows of the first.
 */
export async function takeForDelivery(
  tx: DatabaseTransaction,
  agentId: string,
  now: Date,
  notSince: Date,
): Promise<DeliveredCommand[]> {
  const rows = await runPrepared<DeliveredRow>(tx, TAKE_FOR_DELIVERY, [agentId, notSince, now]);
  return rows
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((row) => ({
      id: row.id,
      kind: row.kind,
      source: { id: row.source_id, slug: row.slug, engine: row.engine },
      params: row.params,
      issued_at: row.created_at.toISOString(),
      attempt: row.attempts,
    }));
}

/** Whether the command asks this agent for a backup of this source. */
export async function isBackupCommand(
  tx: DatabaseTransaction,
  command: { id: string; agentId: string; sourceId: string },
): Promise<boolean> {
  const row = await tx
    .selectFrom("commands")
    .select("id")
    .where("id", "=", command.id)
    .where("agent_id", "=", command.agentId)
    .where("source_id", "=", command.sourceId)
    .where("kind", "=", "backup")
    .executeTakeFirst();
  return row !== undefined;
}

export async function mergeOutcome(
  tx: DatabaseTransaction,
  id: string,
  outcome: { backup_id?: string; receipt_id?: string; event_id?: string },
): Promise<void> {
  await tx
    .updateTable("commands")
    .set({ outcome: sql`outcome || ${JSON.stringify(outcome)}::jsonb` })
    .where("id", "=", id)
    .execute();
}

/**
 * Records how far an agent is with a command that it was given. Returns who asked for the command;
 * null if this agent has no such one.
 */
export async function setProgress(
  tx: DatabaseTransaction,
  { agentId, commandId, progress }: { agentId: string; commandId: string; progress: CommandProgress },
): Promise<string | null> {
  const row = await tx
    .updateTable("commands")
    .set({ progress: JSON.stringify(progress) })
    .where("id", "=", commandId)
    .where("agent_id", "=", agentId)
    .where("status", "<>", "queued")
    .where("ended_at", "is", null)
    .returning("issued_by")
    .executeTakeFirst();
  return row?.issued_by ?? null;
}

interface StoredCommand {
  id: string;
  org_id: string;
  kind: "backup" | "restore_test";
  source_id: string;
  agent_id: string;
  status: "queued" | "delivered" | "acked";
  params: { backup_id?: string };
  attempts: number;
  issued_by: string;
  created_at: Date;
  delivered_at: Date | null;
  acked_at: Date | null;
  ended_at: Date | null;
  progress: CommandProgress | null;
  outcome: { backup_id?: string; receipt_id?: string; event_id?: string };
}

export interface Command extends StoredCommand {
  /** What the restore test found; null for a backup, and until there is a receipt. */
  result: "passed" | "failed" | null;
}

export const COMMAND_COLUMNS = [
  "id",
  "org_id",
  "kind",
  "source_id",
  "agent_id",
  "status",
  "params",
  "attempts",
  "issued_by",
  "created_at",
  "delivered_at",
  "acked_at",
  "ended_at",
  "progress",
  "outcome",
] as const;

/** Adds the results, which the receipts have. */
export async function withResults(
  db: Database,
  orgId: string,
  commands: readonly StoredCommand[],
): Promise<Command[]> {
  const ids = commands.flatMap(({ kind, outcome }) =>
    kind === "restore_test" && outcome.receipt_id !== undefined ? [outcome.receipt_id] : [],
  );
  const receipts =
    ids.length === 0
      ? []
      : await db
          .selectFrom("receipts")
          .select(["id", "result"])
          .where("org_id", "=", orgId)
          .where("id", "in", ids)
          .execute();
  const results = new Map(receipts.map(({ id, result }) => [id, result]));
  return commands.map((command) => ({
    ...command,
    result: results.get(command.outcome.receipt_id ?? "") ?? null,
  }));
}

const MAX_LISTED = 50;

/** Newest first. */
export async function listCommands(db: Database, orgId: string): Promise<Command[]> {
  return searchCommands(db, orgId, {}, { from: "", before: "~" }, MAX_LISTED - 1);
}

export interface CommandFilter {
  source_id?: string;
  agent_id?: string;
  kind?: "backup" | "restore_test";
  status?: "queued" | "delivered" | "acked";
}

const FILTERS = ["source_id", "agent_id", "kind", "status"] as const;

/** Newest first, one more than `limit`. */
export async function searchCommands(
  db: Database,
  orgId: string,
  filter: CommandFilter,
  ids: { from: string; before: string },
  limit: number,
): Promise<Command[]> {
  let query = db
    .selectFrom("commands")
    .select(COMMAND_COLUMNS)
    .where("org_id", "=", orgId)
    .where("id", ">=", ids.from)
    .where("id", "<", ids.before);
  for (const name of FILTERS) {
    const value = filter[name];
    if (value !== undefined) query = query.where(sql<boolean>`${sql.ref(name)} = ${value}`);
  }
  const rows = await query
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  return withResults(db, orgId, rows);
}

export async function findCommand(db: Database, orgId: string, id: string): Promise<Command | null> {
  const rows = await db
    .selectFrom("commands")
    .select(COMMAND_COLUMNS)
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .execute();
  const [command] = await withResults(db, orgId, rows);
  return command ?? null;
}
