import { equalBytes, plural } from "@attestore/proof";
import type { PoolClient } from "pg";
import { decide, type Decision, type Found, type Submission } from "./decisions.ts";
import type { CallRecords, EntryKind, LogEntry, PlacedCall, PlacedEntry } from "./entry.ts";
import { LogAppends } from "../append/log-appends.ts";
import type { Head, CheckpointSigner } from "../checkpoints/checkpoint-signer.ts";
import { nameDatedLater } from "../events/clock-went-back.ts";
import { insertEvents } from "../events/event-rows.ts";
import { LogCorruption } from "../log-corruption.ts";
import { lockLogs, type LockedLog } from "../append/locked-log.ts";
import { ROOTS_OF_SIZES } from "../heads/committed-heads.ts";
import { plainArray } from "../../platform/database/packed.ts";
import { pipelineSession, type PreparedQuery, type SqlSession } from "../../platform/database/sql-session.ts";

export interface CommittedBatch<Call, Answer> {
  decisions: Map<Submission<Call>, Decision<Answer>>;
  logs: LogAppends;
}

/**
 * One transaction for many submissions:
 *
 * 1. lock the logs' rows (other replicas now wait), then look up what the decisions need: agents
 *    still active, earlier calls, and what each kind of entry asks for. Every lookup comes after
 *    the lock, so it sees everything committed before it.
 * 2. decide, and give each new entry the next index of its log.
 * 3. write entries, leaves, full tiles, sizes, heads and the records of the calls; commit.
 *
 * A crash before the commit leaves nothing, and no client got an answer. After the commit
 * everything is there, and a client without an answer finds its entry by repeating the call or the
 * envelope. Rejects with the database's error; the connection must not be used again.
 */
export async function commitBatch<Call, Answer>(
  client: PoolClient,
  submissions: readonly Submission<Call>[],
  { calls, signer }: { calls: CallRecords<Call, Answer>; signer: CheckpointSigner },
): Promise<CommittedBatch<Call, Answer>> {
  const session = pipelineSession(client);
  const now = new Date();
  const begun = client.query("begin");
  const looking = lookUp(session, submissions, calls, now);
  await settled([begun, looking]);
  const found = await looking;
  const sound = await extendable(session, found.locked, signer);
  const logs = new LogAppends(sound);
  const dated = await nameDatedLater(session, sound, logs, now);
  const decisions = decide(submissions, found, logs);
  const tiles = await logs.completeTiles(session);
  const writes = [
    ...(dated.length === 0 ? [] : [insertEvents(session, dated)]),
    ...sendWrites(session, decisions, logs, calls),
    ...logs.write(session, tiles, now),
  ];
  const commit = client.query("commit");
  await settled([...writes, commit]);
  // PostgreSQL answers "commit" in a failed transaction with ROLLBACK and no error.
  if ((await commit).command !== "COMMIT") throw new Error("the batch's transaction was rolled back");
  return { decisions, logs };
}

async function lookUp<Call, Answer>(
  session: SqlSession,
  submissions: readonly Submission<Call>[],
  calls: CallRecords<Call, Answer>,
  now: Date,
): Promise<Found<Call, Answer>> {
  const byKind = Map.groupBy(submissions, ({ kind }) => kind);
  const [locked, active, earlier, judges] = await Promise.all([
    lockLogs(session, new Set(submissions.map(({ entry }) => entry.orgId))),
    readActiveAgents(session, new Set(submissions.map(({ entry }) => entry.agentId))),
    calls.lookup(
      session,
      submissions.map(({ call }) => call),
      now,
    ),
    Promise.all(
      [...byKind].map(async ([kind, group]) => {
        const judge = await kind.lookup(
          session,
          group.map(({ entry }) => entry),
        );
        return [kind, judge] as const;
      }),
    ),
  ]);
  return { locked, active, earlier, judges: new Map(judges) };
}

const ACTIVE_AGENTS: PreparedQuery = {
  name: "log_active_agents",
  text: "select id, key_fingerprint from agents where id = any($1::text[]) and status = 'active'",
};

/**
 * The active ones of these agents, with the fingerprint of each one's current key. Runs under the
 * log's lock, which revocations and rotations take too, so nothing is accepted after them.
 */
async function readActiveAgents(
  session: SqlSession,
  agentIds: ReadonlySet<string>,
): Promise<Map<string, string>> {
  type Row = { id: string; key_fingerprint: string };
  const rows = await session.run<Row>(ACTIVE_AGENTS, [plainArray([...agentIds])]);
  return new Map(rows.map(({ id, key_fingerprint }) => [id, key_fingerprint]));
}

/**
 * The logs that may grow. The others are left out, and their submissions are refused with the
 * reason.
 */
async function extendable(
  session: SqlSession,
  locked: Map<string, LockedLog | LogCorruption>,
  signer: CheckpointSigner,
): Promise<Map<string, LockedLog>> {
  const sound = new Map<string, LockedLog>();
  const grown = new Map<string, Head>();
  for (const [orgId, log] of locked) {
    if (log instanceof LogCorruption) continue;
    const newest = signer.newestOf(log.origin);
    try {
      signer.requireExtends({ origin: log.origin, size: log.range.size, rootHash: log.rootHash });
      sound.set(orgId, log);
      if (newest !== null && newest.size < log.range.size) grown.set(orgId, newest);
    } catch (error) {
      if (!(error instanceof LogCorruption)) throw error;
      locked.set(orgId, error);
    }
  }
  for (const defect of await withoutHead(session, grown)) {
    locked.set(defect.orgId, defect.is);
    sound.delete(defect.orgId);
  }
  return sound;
}

/** Of the logs that another replica extended, those that lack the newest head signed here. */
async function withoutHead(
  session: SqlSession,
  grown: ReadonlyMap<string, Head>,
): Promise<{ orgId: string; is: LogCorruption }[]> {
  if (grown.size === 0) return [];
  const rows = await session.run<{ org_id: string; root_hash: Buffer }>(ROOTS_OF_SIZES, [
    plainArray([...grown.keys()]),
    plainArray([...grown.values()].map(({ size }) => size)),
  ]);
  const roots = new Map(rows.map(({ org_id, root_hash }) => [org_id, root_hash]));
  return [...grown].flatMap(([orgId, { origin, size, rootHash }]) => {
    const root = roots.get(orgId);
    if (root !== undefined && equalBytes(root, rootHash)) return [];
    const message = `${origin} lacks its signed head of ${plural(size, "leaf", "leaves")}: was the database set back?`;
    return [{ orgId, is: new LogCorruption("head_regressed", message) }];
  });
}

function sendWrites<Call, Answer>(
  session: SqlSession,
  decisions: ReadonlyMap<Submission<Call>, Decision<Answer>>,
  logs: LogAppends,
  calls: CallRecords<Call, Answer>,
): Promise<unknown>[] {
  const appended = new Map<EntryKind<LogEntry>, PlacedEntry<LogEntry>[]>();
  const placedCalls: PlacedCall<Call>[] = [];
  for (const [{ kind, call, entry }, decision] of decisions) {
    if (decision.is === "refused" || decision.is === "answered") continue;
    if (decision.is === "recorded" && decision.replayed) continue;
    const logIndex = decision.is === "appended" ? decision.placed.logIndex : decision.logIndex;
    placedCalls.push({ call, logIndex, treeSize: logs.log(entry.orgId).growth.size });
    if (decision.is === "appended") {
      const group = appended.get(kind);
      if (group === undefined) appended.set(kind, [decision.placed]);
      else group.push(decision.placed);
    }
  }
  return [
    ...[...appended].flatMap(([kind, placed]) => kind.insert(session, placed)),
    ...(placedCalls.length === 0 ? [] : calls.insert(session, placedCalls)),
  ];
}

/**
 * Waits until all are settled, so that nothing is in flight, then throws the first failure, which
 * caused the others.
 */
async function settled(promises: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(promises))
    if (result.status === "rejected") throw result.reason;
}
