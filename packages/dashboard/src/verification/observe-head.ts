import { plural } from "../text/format.ts";
import {
  type Checkpoint,
  checkSuccession,
  equalBytes,
  hashFromHex,
  type LogGenerations,
  openLogCheckpoint,
  type OpenedLogCheckpoint,
  parseVerifierKey,
  ProofError,
  requireHeadOf,
  type Rollback,
  verifyConsistency,
} from "@attestore/proof";
import {
  type FollowedGenerations,
  type HeldHead,
  openAlarmed,
  type OpenedHeldHead,
  openHeldHead,
  type SplitView,
  type SplitViewReason,
} from "../verifier/held-head.ts";

/**
 * What the browser observed of a log. `overtaken`: the service gave an older head, which is part of
 * the stored one. `followed`: the log lost entries, and its next generation accounts for all that
 * this browser had seen, also for what raised an alarm here.
 */
export type Observation = {
  outcome: "first" | "same" | "grown" | "overtaken" | "followed";
  offered: OpenedLogCheckpoint;
  /** The head stored before; null the first time. */
  before: OpenedLogCheckpoint | null;
  /** How the log's later generations began; verified. */
  rollbacks: readonly Rollback[];
  /** Number of hashes in the proof. */
  hashes: number;
  /** The head to store now. */
  keep: HeldHead;
};

/** The log contradicts what it showed before. */
export class SplitViewError extends Error {
  readonly reason: SplitViewReason;

  constructor(reason: SplitViewReason, message: string) {
    super(message);
    this.name = "SplitViewError";
    this.reason = reason;
  }
}

/**
 * Returns the hashes of a consistency proof; null if the service says that it has none. Rejects if
 * no answer came.
 */
export type ConsistencySource = (from: bigint, to: bigint) => Promise<readonly string[] | null>;

/** Returns the events about the log's generations, with the lost heads of these sizes. */
export type GenerationsSource = (sizes: readonly bigint[]) => Promise<LogGenerations>;

export interface LogSource {
  prove: ConsistencySource;
  generations: GenerationsSource;
}

/** What this browser stored of the log before. */
export interface SeenBefore {
  held: HeldHead | null;
  alarm: SplitView | null;
}

type Offered = { checkpoint: string; verifier_key: string };

/**
 * Compares a head from the service with the last one stored here, as witnesses do (C2SP
 * tlog-witness), and follows to a later generation of the log by the rule of checkSuccession.
 * Throws SplitViewError; ProofError if the stored head cannot be read; and whatever the source
 * throws, which proves nothing either way.
 */
export async function observeHead(
  offered: Offered,
  { held, alarm }: SeenBefore,
  source: LogSource,
  now: Date,
): Promise<Observation> {
  if (held !== null && held.verifier_key !== offered.verifier_key)
    throw new SplitViewError(
      "key_changed",
      `its key was ${held.verifier_key}; the service now gives ${offered.verifier_key}`,
    );
  const head = await openOffered(offered);
  const seen_at = now.toISOString();
  const seen = { checkpoint: offered.checkpoint, verifier_key: offered.verifier_key, seen_at };
  const before = held === null ? null : await openHeldHead(held);
  const alarmed = alarm === null || held === null ? null : await openAlarmed(alarm, held);
  // Closed while it followed, the browser may have stored the new head and still have the alarm.
  const keptThen = alarm?.kept ?? null;
  const alarmedBefore = keptThen === null ? before : await openHeldHead(keptThen);
  const known = Math.min(before?.head.generation ?? 1, alarmedBefore?.head.generation ?? 1);
  if (head.generation > known && (alarm === null || alarmed !== null)) {
    const heads = [before?.head, alarmedBefore?.head, alarmed ?? undefined].filter(
      (each) => each !== undefined,
    );
    const followed = await follow({ offered, head, heads, before }, source);
    const generations: FollowedGenerations = {
      followed_at: seen_at,
      began: followed.answer.began,
      ...(alarm === null ? {} : { alarm }),
    };
    return {
      outcome: held === null ? "first" : "followed",
      offered: head,
      before: before?.head ?? null,
      rollbacks: followed.rollbacks,
      hashes: followed.hashes,
      keep: { ...seen, since: held?.since ?? seen_at, generations },
    };
  }
  if (held === null || before === null)
    return {
      outcome: "first",
      offered: head,
      before: null,
      rollbacks: [],
      hashes: 0,
      keep: { ...seen, since: seen_at },
    };
  return compare(head, { ...seen, ...keptOf(held) }, { held, before }, source);
}

function keptOf({ since, generations }: HeldHead): Pick<HeldHead, "since" | "generations"> {
  return { since, ...(generations === undefined ? {} : { generations }) };
}

/** Compares a head of no later generation than the stored one. */
async function compare(
  head: OpenedLogCheckpoint,
  keep: HeldHead,
  { held, before: { head: before, rollbacks } }: { held: HeldHead; before: OpenedHeldHead },
  { prove }: LogSource,
): Promise<Observation> {
  const observed = { offered: head, before, rollbacks };
  if (head.generation > before.generation)
    throw new SplitViewError("generation_unproven", `${head.origin} does not account for the alarm`);
  try {
    requireHeadOf(rollbacks, { origin: head.origin, size: Number(head.size) });
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    throw new SplitViewError("head_forked", error.message);
  }
  if (head.size === before.size) {
    if (!equalBytes(head.rootHash, before.rootHash))
      throw new SplitViewError("head_forked", `two root hashes for ${plural(head.size, "leaf", "leaves")}`);
    return { ...observed, outcome: "same", hashes: 0, keep };
  }
  const isNewer = head.size > before.size;
  const [small, large] = isNewer ? [before, head] : [head, before];
  const hashes = await prove(small.size, large.size);
  if (hashes === null)
    throw new SplitViewError(
      isNewer ? "head_inconsistent" : "head_rolled_back",
      isNewer
        ? `the service has no proof that its ${plural(large.size, "leaf", "leaves")} begin with the ${small.size} that this browser saw before`
        : `it had ${plural(large.size, "leaf", "leaves")} before and has ${small.size} now, and the service has no proof that connects them`,
    );
  requireConsistent(small, large, hashes, isNewer ? "head_inconsistent" : "head_forked");
  return isNewer
    ? { ...observed, outcome: "grown", hashes: hashes.length, keep }
    : { ...observed, outcome: "overtaken", hashes: hashes.length, keep: held };
}

/** Throws SplitViewError unless the later generation accounts for all of these heads. */
async function follow(
  {
    offered,
    head,
    heads,
    before,
  }: {
    offered: Offered;
    head: OpenedLogCheckpoint;
    heads: readonly Checkpoint[];
    before: OpenedHeldHead | null;
  },
  { prove, generations }: LogSource,
): Promise<{ answer: LogGenerations; rollbacks: Rollback[]; hashes: number }> {
  const logKey = parseVerifierKey(offered.verifier_key);
  try {
    const answer = await generations([...new Set(heads.map(({ size }) => size))]);
    const checked = await checkSuccession({
      logKey,
      offered: head,
      held: heads,
      followed: before?.began ?? [],
      answer,
    });
    let count = 0;
    for (const { small, large } of checked.toProve) {
      const hashes = await prove(small.size, large.size);
      if (hashes === null)
        throw new SplitViewError(
          "generation_unproven",
          `the service has no proof that its ${plural(large.size, "leaf", "leaves")} begin with the ${small.size} that were left`,
        );
      requireConsistent(small, large, hashes, "generation_unproven");
      count += hashes.length;
    }
    return { answer, rollbacks: checked.rollbacks, hashes: count };
  } catch (error) {
    if (error instanceof ProofError) throw new SplitViewError("generation_unproven", error.message);
    throw error;
  }
}

async function openOffered(offered: Offered): Promise<OpenedLogCheckpoint> {
  try {
    return await openLogCheckpoint(offered.checkpoint, parseVerifierKey(offered.verifier_key));
  } catch (error) {
    if (error instanceof ProofError) throw new SplitViewError("head_unsigned", error.message);
    throw error;
  }
}

function requireConsistent(
  small: Checkpoint,
  large: Checkpoint,
  hashes: readonly string[],
  reason: SplitViewReason,
): void {
  // Every tree extends the empty tree.
  if (small.size === 0n) return;
  try {
    verifyConsistency({
      from: small.size,
      to: large.size,
      fromRoot: small.rootHash,
      toRoot: large.rootHash,
      hashes: hashes.map(hashFromHex),
    });
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    throw new SplitViewError(
      reason,
      `the proof from ${small.size} to ${plural(large.size, "leaf", "leaves")} does not hold: ${error.message}`,
    );
  }
}
