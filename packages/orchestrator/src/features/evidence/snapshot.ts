import { firstIdAt } from "@attestore/contract";
import { type PackAgent, type PackGenerations, type PackPolicy, TILE_WIDTH } from "@attestore/proof";
import { readNewestCheckpoint, type SignedCheckpoint } from "../../log/heads/heads.ts";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import { transactionSession } from "../../platform/database/sql-session.ts";
import { cosignaturesOf } from "../../log/witnesses/witnessed-head.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import { keysByFingerprint, listPackAgents, readAgentEvents } from "./pack-agents.ts";
import { readPackGenerations } from "./pack-generations.ts";
import type { EvidencePeriod } from "./period.ts";
import {
  type PublishedCheckpoint,
  publishedAfter,
  publishedBefore,
  latestDeadline,
  listBackupsBefore,
  listChangesBefore,
  listPolicySources,
  listPredecessors,
  readOrgName,
} from "./store.ts";

/**
 * The state of the organisation at one moment, and the range of the log that a pack has. Everything
 * that is read later can no longer change: entries below `head.size`, and runs that were decided
 * before `exportedAt`. So no transaction stays open while somebody downloads the pack slowly.
 */
export interface Snapshot {
  orgId: string;
  period: EvidencePeriod;
  exportedAt: Date;
  head: SignedCheckpoint;
  /** Null for a log that never lost an entry. */
  generations: PackGenerations | null;
  /** Leaves in the pack; the first index is a multiple of 256. */
  range: { from: number; to: number };
  start: PublishedCheckpoint | null;
  end: PublishedCheckpoint | null;
  /**
   * Everything recorded before this is in the pack with its body, and so is whatever decided the
   * period's runs.
   */
  bodiesUntil: Date;
  policy: PackPolicy;
  agents: PackAgent[];
  /** All their keys, in wire form, by fingerprint. */
  signingKeys: ReadonlyMap<string, string>;
  /** Entries from before the period that entries in the period refer to. */
  earlier: { backups: number[]; events: number[] };
  /**
   * Earlier receipts of which the pack has only the leaf, because agents' first receipts in the
   * period follow them.
   */
  predecessors: number[];
}

/** The newest one, with what agents said about it as witnesses. */
async function readHead(
  tx: DatabaseTransaction,
  signer: CheckpointSigner,
  orgId: string,
): Promise<SignedCheckpoint> {
  const session = transactionSession(tx);
  const head = await readNewestCheckpoint(session, signer, orgId);
  const cosignatures = await cosignaturesOf(session, orgId, head.size);
  return { ...head, checkpoint: head.checkpoint + cosignatures.join("") };
}

/**
 * How long after a run's deadline the service notices that it was missed and writes that to the
 * log.
 */
const NOTICED_MS = 3_600_000;

/** Checkpoints are one hour apart. */
const NEAR_MS = 2 * 3_600_000;

const earliest = (a: Date, b: Date): Date => (a < b ? a : b);

/** In one transaction with one snapshot. Throws `not_found`. */
export async function readSnapshot(
  tx: DatabaseTransaction,
  signer: CheckpointSigner,
  { orgId, period, now }: { orgId: string; period: EvidencePeriod; now: Date },
): Promise<Snapshot> {
  const name = await readOrgName(tx, orgId);
  if (name === null) throw notFound("organisation");
  const head = await readHead(tx, signer, orgId);
  const deadline = await latestDeadline(tx, orgId, period);
  const noticed = deadline === null ? period.to : new Date(deadline.getTime() + NOTICED_MS);
  const bodiesUntil = earliest(now, noticed < period.to ? period.to : noticed);
  const start = await publishedBefore(tx, orgId, period.from, head.size);
  const end = await publishedAfter(tx, orgId, { moment: bodiesUntil, now }, head.size);
  const sources = await listPolicySources(tx, orgId);
  const agentEvents = await readAgentEvents(tx, orgId, head.size);
  const backups = await listBackupsBefore(tx, {
    orgId,
    sourceIds: sources.map(({ id }) => id),
    before: firstIdAt("receipt", period.from.getTime()),
    size: head.size,
  });
  const changes = await listChangesBefore(tx, orgId, period.from, head.size);
  const agents = await listPackAgents(tx, orgId, agentEvents);
  const outside = agentEvents
    .filter(({ createdAt }) => createdAt < period.from || createdAt >= bodiesUntil)
    .map(({ logIndex }) => logIndex);
  const range = {
    from: start === null ? 0 : Math.floor(start.size / TILE_WIDTH) * TILE_WIDTH,
    to: end === null ? head.size : Math.min(head.size, Math.ceil(end.size / TILE_WIDTH) * TILE_WIDTH),
  };
  const predecessors = await listPredecessors(tx, orgId, {
    from: firstIdAt("receipt", period.from.getTime()),
    until: firstIdAt("receipt", bodiesUntil.getTime()),
    near: firstIdAt("receipt", period.from.getTime() - NEAR_MS),
    range,
  });
  return {
    orgId,
    period,
    exportedAt: now,
    head,
    generations: await readPackGenerations(transactionSession(tx), signer, orgId, head),
    range,
    start,
    end,
    bodiesUntil,
    policy: { v: 1, org: { id: orgId, name }, sources },
    agents,
    signingKeys: keysByFingerprint(agents),
    earlier: { backups, events: [...outside, ...changes] },
    predecessors,
  };
}
