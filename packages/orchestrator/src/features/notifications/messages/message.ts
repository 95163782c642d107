import type { DatabaseTransaction } from "../../../platform/database/schema.ts";

/** The message for every channel that wants its type. */
export interface Message {
  id: string;
  type: string;
  occurredAt: Date;
  data: Record<string, unknown>;
}

export async function readMessage(tx: DatabaseTransaction, messageId: string): Promise<Message> {
  const { occurred_at, ...row } = await tx
    .selectFrom("notifications")
    .select(["id", "type", "occurred_at", "data"])
    .where("id", "=", messageId)
    .$narrowType<{ data: Record<string, unknown> }>()
    .executeTakeFirstOrThrow();
  return { ...row, occurredAt: occurred_at };
}
