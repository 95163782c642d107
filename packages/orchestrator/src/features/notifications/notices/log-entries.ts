import { parseLeaf } from "@attestore/proof";
import { type ArchivedEnvelopes, ENVELOPE_PLACE } from "../../../log/archive/archived-envelopes.ts";
import type { DatabaseTransaction } from "../../../platform/database/schema.ts";

export interface LoggedEvent {
  type: "event";
  id: string;
  kind: string;
  source_id: string | null;
  backup_id: string | null;
  actor_id: string;
  occurred_at: Date;
  detail: Readonly<Record<string, unknown>>;
}

export interface LoggedReceipt {
  type: "receipt";
  id: string;
  kind: "backup" | "restore_test";
  source_id: string;
  agent_id: string;
  backup_id: string;
  result: "passed" | "failed" | null;
  envelope: Buffer;
  log_index: number;
  created_at: Date;
  happened_at: Date;
}

/** The log's entries at these indexes, in order; `from` inclusive, `to` exclusive. */
export async function readLogEntries(
  tx: DatabaseTransaction,
  envelopes: ArchivedEnvelopes,
  orgId: string,
  { from, to }: { from: number; to: number },
): Promise<(LoggedEvent | LoggedReceipt)[]> {
  const leaves = await tx
    .selectFrom("log_leaves")
    .select("leaf")
    .where("org_id", "=", orgId)
    .where("log_index", ">=", from)
    .where("log_index", "<", to)
    .orderBy("log_index")
    .execute();
  const ids = leaves.map(({ leaf }) => parseLeaf(leaf).id);
  const [events, receipts] = [await readEvents(tx, ids), await readReceipts(tx, envelopes, ids)];
  return ids.flatMap((id) => events.get(id) ?? receipts.get(id) ?? []);
}

async function readEvents(
  tx: DatabaseTransaction,
  ids: readonly string[],
): Promise<Map<string, LoggedEvent>> {
  const wanted = ids.filter((id) => id.startsWith("evt_"));
  if (wanted.length === 0) return new Map();
  const rows = await tx
    .selectFrom("events")
    .select(["id", "kind", "source_id", "backup_id", "actor_id", "occurred_at", "body"])
    .where("id", "in", wanted)
    .execute();
  return new Map(
    rows.map(({ body, ...row }) => {
      const { detail } = JSON.parse(body.toString("utf8")) as { detail: Record<string, unknown> };
      return [row.id, { type: "event", ...row, detail }];
    }),
  );
}

async function readReceipts(
  tx: DatabaseTransaction,
  envelopes: ArchivedEnvelopes,
  ids: readonly string[],
): Promise<Map<string, LoggedReceipt>> {
  const wanted = ids.filter((id) => id.startsWith("rcpt_"));
  if (wanted.length === 0) return new Map();
  const rows = await tx
    .selectFrom("receipts")
    .select(["kind", "source_id", "agent_id", "backup_id", "result", "created_at", "happened_at"])
    .select(ENVELOPE_PLACE)
    .where("id", "in", wanted)
    .execute();
  return new Map(envelopes.complete(rows).map((row) => [row.id, { type: "receipt", ...row }]));
}
