/**
 * Receipts that came into a log long ago: by the service's own statements, at the times that a test
 * chooses, so that tree, heads and signatures are true.
 */
import { parseEnvelope } from "@attestore/proof";
import type { Pool } from "pg";
import { type ReceiptEntry, receiptEntry } from "../../src/features/receipts/receipt-entry.ts";
import { insertReceipts } from "../../src/features/receipts/store.ts";
import { lockLogs, type LockedLog } from "../../src/log/append/locked-log.ts";
import { LogAppends } from "../../src/log/append/log-appends.ts";
import { LogCorruption } from "../../src/log/log-corruption.ts";
import { clientSession } from "../../src/platform/database/sql-session.ts";
import type { TestAgent, TestBackup } from "./log-world.ts";
import { backupStatement, restoreTestStatement, signedEnvelope } from "./signed-receipt.ts";

export interface OldReceipts {
  backups: readonly TestBackup[];
  /** Of each backup in turn its own receipt, then one of a restore test. */
  count: number;
  from: Date;
  every_ms: number;
  /** How long before it was recorded a run ended, a minute unless told; not at all: 0. */
  ended_ms?: number;
}

/** Appended to the log in this order. */
export async function addOldReceipts(
  pool: Pool,
  agent: TestAgent,
  { backups, count, from, every_ms, ended_ms = 60_000 }: OldReceipts,
): Promise<ReceiptEntry[]> {
  const entries = Array.from({ length: count }, (_, n) => {
    const recordedAt = new Date(from.getTime() + n * every_ms);
    const backup = backups[Math.floor(n / 2) % backups.length];
    if (backup === undefined) throw new Error("there is no backup");
    const finished_at = new Date(recordedAt.getTime() - ended_ms).toISOString();
    const statement = (n % 2 === 0 ? backupStatement : restoreTestStatement)(agent, backup, { finished_at });
    const body = signedEnvelope(agent, statement);
    const envelope = parseEnvelope(body);
    return receiptEntry({ orgId: agent.orgId, agentId: agent.id, envelope, body, statement }, recordedAt);
  });
  const client = await pool.connect();
  try {
    const session = clientSession(client);
    await client.query("begin");
    const log = (await lockLogs(session, new Set([agent.orgId]))).get(agent.orgId);
    if (log === undefined || log instanceof LogCorruption) throw new Error("no sound log");
    const grown = new LogAppends(new Map<string, LockedLog>([[agent.orgId, log]]));
    const placed = entries.map((entry) => ({ entry, ...grown.append(agent.orgId, entry.leaf) }));
    const at = entries.at(-1)?.recordedAt ?? from;
    await Promise.all([
      insertReceipts(session, placed),
      ...grown.write(session, await grown.completeTiles(session), at),
    ]);
    await client.query("commit");
  } finally {
    client.release();
  }
  return entries;
}
