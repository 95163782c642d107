import {
  equalBytes,
  formatLogName,
  LOG_ROLLED_BACK,
  MAX_GENERATION,
  MAX_LOST_IN_EVENT,
  parseLogName,
  plural,
  toHex,
  type Hash,
} from "@attestore/proof";
import { packHashes } from "../../platform/database/packed.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { type PreparedQuery, transactionSession } from "../../platform/database/sql-session.ts";
import type { Head } from "../checkpoints/checkpoint-signer.ts";
import { MAX_CLOCKS_APART_MS } from "../clock-off.ts";
import { eventEntry } from "../events/event-entry.ts";
import { insertEvents } from "../events/event-rows.ts";
import { readGenerations } from "../heads/generations.ts";
import { LogAppends } from "../append/log-appends.ts";
import { lockSetBackLog } from "../append/locked-log.ts";
import { nameLostHead, recordLostHead } from "./name-lost-heads.ts";

/** Why a log cannot continue as its next generation. The message is for the operator. */
export class RecoveryRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "RecoveryRefused";
  }
}

export interface Recovery {
  orgId: string;
  /** The losses that the operator was shown. */
  left: { size: number; rootHash: Hash };
  /** The heads that are known to be lost. */
  lost: readonly Head[];
  by: string;
  because: string;
}

export interface Recovered {
  origin: string;
  generation: number;
  eventId: string;
}

/**
 * Throws RecoveryRefused unless a log of `size` entries that lacks these heads can continue as its
 * next generation. `present` is its origin.
 */
export function requireRecoverable(present: string, size: number, lost: readonly Head[]): void {
  const refuse = (why: string): never => {
    throw new RecoveryRefused(why);
  };
  if (lost.length === 0)
    refuse("No head of this log is known to be lost, so there is nothing to recover. Nothing was changed.");
  const { generation } = parseLogName(present);
  if (generation >= MAX_GENERATION) refuse(`${present} is the last generation that a log can have.`);
  const roots = new Map<number, Hash>();
  for (const { origin, size: lostSize, rootHash } of lost) {
    if (origin !== present)
      refuse(
        `A head of ${origin} is lost, and this database knows the log only as ${present}: it is older than the beginning of that generation, whose name cannot be used again. Restore a newer database.`,
      );
    if (lostSize <= size)
      refuse(
        `The log has ${plural(size, "entry", "entries")}, and a head of ${plural(lostSize, "entry", "entries")} with another root was signed: it continued with other entries after it was set back, so nobody can say which entries are left. Restore a database from before that (or the newest one).`,
      );
    const other = roots.get(lostSize);
    if (other !== undefined && !equalBytes(other, rootHash))
      refuse(
        `Two heads of ${plural(lostSize, "entry", "entries")} with different roots were signed: the log was forked, and a next generation would not hide it.`,
      );
    roots.set(lostSize, rootHash);
  }
}

const BEGIN: PreparedQuery = {
  name: "log_begin_generation",
  text: `insert into log_generations (org_id, generation, origin, ended, tree_size, root_hash, event_id)
    values ($1, $2, $3, $4, $5, $6, $7)`,
};

const RENAME: PreparedQuery = {
  name: "log_begin_origin",
  text: `update logs set origin = $2, missing_head_size = null, missing_head_root = null, missing_head_origin = null
    where org_id = $1`,
};

/**
 * Ends a log that lacks signed heads, and begins its next generation, in the caller's transaction:
 * the event `log_rolled_back` is the entry after those that are left, and the log's name, its
 * generations, its lost heads and the end of its read-only state are committed with it. A crash
 * before the commit leaves the log read-only as it was. Whoever does the same at once waits for the
 * row's lock and is then refused. Throws RecoveryRefused; LogCorruption `log_missing`, `log_held`,
 * `log_row_damaged`; ClockOff.
 */
export async function beginNextGeneration(
  tx: DatabaseTransaction,
  { orgId, left, lost, by, because }: Recovery,
): Promise<Recovered> {
  const session = transactionSession(tx);
  const { log, missing } = await lockSetBackLog(session, orgId);
  if (log.range.size !== left.size || !equalBytes(log.rootHash, left.rootHash))
    throw new RecoveryRefused("The log changed meanwhile. Nothing was done: look at the losses again.");
  const heads = withHead(lost, missing);
  requireRecoverable(log.origin, log.range.size, heads);
  if (log.newestAt !== null && log.newestAt.getTime() > Date.now() + MAX_CLOCKS_APART_MS)
    throw new RecoveryRefused(
      `The log's newest entry is of ${log.newestAt.toISOString()}, which is later than now. Correct this machine's clock, or wait until then.`,
    );
  const { first, generation: present } = parseLogName(log.origin);
  const generations = await readGenerations(session, orgId);
  if (generations.length !== present - 1 || (generations.at(-1)?.size ?? -1) >= log.range.size)
    throw new RecoveryRefused(`The generations of ${log.origin} are damaged: see attestore-server fsck.`);
  const generation = present + 1;
  const origin = formatLogName({ first, generation });
  // The largest ones: agents that have one of the others bring it, and it gets an event of its own.
  const sorted = heads.toSorted((one, other) => one.size - other.size);
  const named = sorted.slice(-MAX_LOST_IN_EVENT);

  const now = new Date();
  const entry = eventEntry(
    {
      orgId,
      kind: LOG_ROLLED_BACK,
      actorId: "service",
      occurredAt: now,
      detail: {
        v: 1,
        generation,
        ended: log.origin,
        tree_size: log.range.size,
        root_hash: toHex(log.rootHash),
        lost: named.map(({ size, rootHash }) => ({ tree_size: size, root_hash: toHex(rootHash) })),
        by,
        because,
      },
    },
    now,
  );
  const appends = new LogAppends(new Map([[orgId, log]]));
  const placed = appends.append(orgId, entry.leaf);
  const tiles = await appends.completeTiles(session);
  await Promise.all([
    insertEvents(session, [{ event: entry, placed }]),
    ...appends.write(session, tiles, now),
  ]);
  const root = packHashes([log.rootHash]);
  await session.run(BEGIN, [orgId, generation, origin, log.origin, log.range.size, root, entry.id]);
  await session.run(RENAME, [orgId, origin]);
  for (const head of named) await recordLostHead(session, orgId, head, entry.id);
  for (const head of sorted.slice(0, -MAX_LOST_IN_EVENT)) await nameLostHead(tx, orgId, head);
  return { origin, generation, eventId: entry.id };
}

/** With the head that stopped the log, which may have come after the operator looked. */
function withHead(lost: readonly Head[], missing: Head | null): Head[] {
  if (missing === null) return [...lost];
  const isKnown = lost.some(
    ({ origin, size, rootHash }) =>
      origin === missing.origin && size === missing.size && equalBytes(rootHash, missing.rootHash),
  );
  return isKnown ? [...lost] : [...lost, missing];
}
