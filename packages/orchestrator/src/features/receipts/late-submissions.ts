import { firstIdAt } from "@attestore/contract";
import { plainArray } from "../../platform/database/packed.ts";
import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";
import type { BackupFacts } from "./match.ts";
import type { ReceiptEntry } from "./receipt-entry.ts";
import { SUBMISSION_WINDOW_MS } from "./submission-window.ts";

/**
 * A test by an agent that no longer tests the source, and what the records say about its backup.
 */
export interface LateTest {
  entry: ReceiptEntry;
  backup: BackupFacts;
}

/**
 * Why a late test counts. `commandId` is the command whose outcome it is, or null if only its time
 * counts. Returns null if the test does not count.
 */
export type FindRight = (late: LateTest) => { commandId: string | null } | null;

/**
 * Whether agents that lost a source may still submit what they tested. They may, for as long as
 * receipts can wait in an agent's spool, in two cases.
 * In the first, the agent was asked for this very test: a command for a test of this backup was
 * delivered to it and has no outcome yet.
 * In the second, the agent says that the test ended before the log moved the source to another
 * agent, and the backup was registered by then.
 * Neither lets an agent prove more than it could while it had the source: the first counts once,
 * and the second counts for a time before the move.
 */
export async function findLateSubmissions(
  session: SqlSession,
  late: readonly LateTest[],
  now: Date,
): Promise<FindRight> {
  if (late.length === 0) return () => null;
  const since = new Date(now.getTime() - SUBMISSION_WINDOW_MS);
  const sources = plainArray([...new Set(late.map(({ backup }) => backup.source_id))]);
  const agents = plainArray([...new Set(late.map(({ entry }) => entry.agentId))]);
  const [asked, changes] = await Promise.all([
    session.run<AskedRow>(ASKED, [sources, agents, since]),
    session.run<ChangeRow>(CHANGES, [sources, firstIdAt("event", since.getTime())]),
  ]);
  const open = Map.groupBy(asked, ({ agent_id, backup_id }) => `${agent_id} ${backup_id}`);
  const until = untilWhen(changes);
  return ({ entry, backup }) => {
    const { started_at, finished_at } = entry.statement.predicate;
    const end = until.get(`${backup.source_id} ${entry.agentId}`);
    const isOfThen = end !== undefined && backup.registered_at <= end && finished_at <= end.toISOString();
    const commands = open.get(`${entry.agentId} ${backup.id}`) ?? [];
    const [command] = commands;
    // A test from before the command is not its result. The result may come later and have no other
    // right to be accepted.
    if (command === undefined || (isOfThen && started_at < command.created_at.toISOString()))
      return isOfThen ? { commandId: null } : null;
    // Used up: the next test of this backup in the batch is not the outcome of the same command.
    commands.shift();
    return { commandId: command.id };
  };
}

interface AskedRow extends Record<string, unknown> {
  id: string;
  agent_id: string;
  backup_id: string | null;
  created_at: Date;
}

const ASKED: PreparedQuery = {
  name: "receipts_asked_of_former_testers",
  text: `select id, agent_id, params ->> 'backup_id' as backup_id, created_at from commands
    where source_id = any($1::text[]) and agent_id = any($2::text[]) and kind = 'restore_test' and status <> 'queued'
      and outcome = '{}' and delivered_at >= $3::timestamptz
    order by id`,
};

interface ChangeRow extends Record<string, unknown> {
  source_id: string;
  created_at: Date;
  body: Buffer;
}

const CHANGES: PreparedQuery = {
  name: "receipts_changes_of_sources",
  text: `select source_id, created_at, body from events
    where source_id = any($1::text[]) and kind = 'source_configured' and id >= $2`,
};

/**
 * Until when each agent was last one of a source's agents, according to the log. The keys are
 * source and agent.
 */
function untilWhen(changes: readonly ChangeRow[]): Map<string, Date> {
  const last = new Map<string, Date>();
  for (const { source_id, created_at, body } of changes) {
    const { detail } = JSON.parse(body.toString("utf8")) as {
      detail: { before: { agent_id?: string; test_agent_id?: string | null } };
    };
    for (const agentId of [detail.before.agent_id, detail.before.test_agent_id]) {
      const key = `${source_id} ${agentId}`;
      if (typeof agentId === "string" && (last.get(key) ?? created_at) <= created_at)
        last.set(key, created_at);
    }
  }
  return last;
}
