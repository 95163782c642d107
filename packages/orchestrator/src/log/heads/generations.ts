import {
  formatVerifierKey,
  LOG_HEAD_LOST,
  type ServiceEventBundle,
  parseJson,
  parseLeaf,
  parseLogName,
  toHex,
} from "@attestore/proof";
import { plainArray } from "../../platform/database/packed.ts";
import type { PreparedQuery, SqlSession } from "../../platform/database/sql-session.ts";
import type { CheckpointSigner } from "../checkpoints/checkpoint-signer.ts";
import { readHeadOfSize, type SignedCheckpoint } from "./heads.ts";
import { LogCorruption } from "../log-corruption.ts";
import { logVerifier } from "../checkpoints/log-keys.ts";
import { readInclusionProof } from "../tree/log-reader.ts";

/** A later generation of a log. */
export interface LogGeneration {
  /** From 2. */
  generation: number;
  origin: string;
  /** The generation before, and how many of its entries were left. */
  ended: string;
  size: number;
  rootHash: Buffer;
  /** Its `log_rolled_back`, which is the entry after those. */
  eventId: string;
}

const GENERATIONS: PreparedQuery = {
  name: "log_generations",
  text: `select generation, origin, ended, tree_size as size, root_hash as "rootHash", event_id as "eventId"
    from log_generations where org_id = $1 order by generation`,
};

/** The log's later generations; none for a log that never lost an entry. */
export function readGenerations(session: SqlSession, orgId: string): Promise<LogGeneration[]> {
  return session.run<LogGeneration & Record<string, unknown>>(GENERATIONS, [orgId]);
}

/** The events that began all generations up to that of `origin`, each proven in its first head. */
export async function readBeginnings(
  session: SqlSession,
  signer: CheckpointSigner,
  orgId: string,
  origin: string,
): Promise<ServiceEventBundle[]> {
  const until = parseLogName(origin).generation;
  if (until === 1) return [];
  const bundles: ServiceEventBundle[] = [];
  for (const { generation, size, eventId } of await readGenerations(session, orgId)) {
    if (generation > until) break;
    const head = await readHeadOfSize(session, orgId, size + 1);
    if (head === null)
      throw new LogCorruption("log_incomplete", `${orgId} lacks the first head of generation ${generation}`);
    const proven = { origin: head.origin, size: head.size, checkpoint: await signer.sign(head) };
    bundles.push(await readServiceEvent(session, signer, { orgId, eventId }, proven));
  }
  return bundles;
}

const LOST: PreparedQuery = {
  name: "log_lost_heads",
  text: `select distinct event_id from log_lost_heads
    where org_id = $1 and ($2::bigint is null or tree_size = $2)`,
};

const LOST_IN_HEAD: PreparedQuery = {
  name: "log_lost_heads_told",
  text: `select id from events where org_id = $1 and id = any($2::text[]) and kind = '${LOG_HEAD_LOST}' and log_index < $3
    order by log_index limit $4`,
};

/** More than a log has; an evidence pack names them all. */
const MAX_LOST = 100_000;

/**
 * The `log_head_lost` events about heads of that size, or of any, that are in this head of the log,
 * proven in it.
 */
export async function readLostHeads(
  session: SqlSession,
  signer: CheckpointSigner,
  orgId: string,
  head: Pick<SignedCheckpoint, "origin" | "size" | "checkpoint">,
  size: number | null,
): Promise<ServiceEventBundle[]> {
  const lost = await session.run<{ event_id: string }>(LOST, [orgId, size]);
  if (lost.length === 0) return [];
  const ids = plainArray(lost.map(({ event_id }) => event_id));
  const rows = await session.run<{ id: string }>(LOST_IN_HEAD, [orgId, ids, head.size, MAX_LOST]);
  const bundles: ServiceEventBundle[] = [];
  for (const { id: eventId } of rows)
    bundles.push(await readServiceEvent(session, signer, { orgId, eventId }, head));
  return bundles;
}

const EVENT: PreparedQuery = {
  name: "log_own_event",
  text: `select body, leaf, log_index from events join log_leaves using (org_id, log_index)
    where events.org_id = $1 and events.id = $2`,
};

interface EventRow {
  body: Buffer;
  leaf: Buffer;
  log_index: number;
}

async function readServiceEvent(
  session: SqlSession,
  signer: CheckpointSigner,
  { orgId, eventId }: { orgId: string; eventId: string },
  { origin, size, checkpoint }: Pick<SignedCheckpoint, "origin" | "size" | "checkpoint">,
): Promise<ServiceEventBundle> {
  const [row] = await session.run<EventRow & Record<string, unknown>>(EVENT, [orgId, eventId]);
  if (row === undefined || row.log_index >= size)
    throw new LogCorruption("log_incomplete", `${origin} lacks ${eventId} in its head of ${size}`);
  const hashes = await readInclusionProof(session, orgId, row.log_index, { size, origin });
  return {
    event: parseJson(row.body) as unknown as ServiceEventBundle["event"],
    leaf: parseLeaf(row.leaf),
    inclusion_proof: { log_index: row.log_index, tree_size: size, hashes: hashes.map(toHex) },
    checkpoint,
    log: { origin, verifier_key: formatVerifierKey(logVerifier(signer.identity, origin)) },
  };
}
