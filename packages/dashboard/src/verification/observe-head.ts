import { plural } from "../text/format.ts";
import {
  equalBytes,
  hashFromHex,
  openCheckpoint,
  type OpenedCheckpoint,
  parseVerifierKey,
  ProofError,
  verifyConsistency,
} from "@attestore/proof";
import { type SplitViewReason, type HeldHead, openHeldHead } from "../verifier/held-head.ts";

/**
 * What the browser observed of a log. `overtaken`: the service gave an older head, which is part of
 * the stored one.
 */
export type Observation = {
  outcome: "first" | "same" | "grown" | "overtaken";
  offered: OpenedCheckpoint;
  /** The head stored before; null the first time. */
  before: OpenedCheckpoint | null;
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

/**
 * Compares a head from the service with the last one stored here, as witnesses do (C2SP
 * tlog-witness). Throws SplitViewError; ProofError if the stored head cannot be read; and
 * whatever `prove` throws, which proves nothing either way.
 */
export async function observeHead(
  offered: { checkpoint: string; verifier_key: string },
  held: HeldHead | null,
  prove: ConsistencySource,
  now: Date,
): Promise<Observation> {
  if (held !== null && held.verifier_key !== offered.verifier_key)
    throw new SplitViewError(
      "key_changed",
      `its key was ${held.verifier_key}; the service now gives ${offered.verifier_key}`,
    );
  const head = await openOffered(offered);
  const seen = {
    checkpoint: offered.checkpoint,
    verifier_key: offered.verifier_key,
    seen_at: now.toISOString(),
  };
  if (held === null)
    return {
      outcome: "first",
      offered: head,
      before: null,
      hashes: 0,
      keep: { ...seen, since: seen.seen_at },
    };
  const { head: before } = await openHeldHead(held);
  const observed = { offered: head, before };
  if (head.size === before.size) {
    if (!equalBytes(head.rootHash, before.rootHash))
      throw new SplitViewError("head_forked", `two root hashes for ${plural(head.size, "leaf", "leaves")}`);
    return { ...observed, outcome: "same", hashes: 0, keep: { ...seen, since: held.since } };
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
    ? { ...observed, outcome: "grown", hashes: hashes.length, keep: { ...seen, since: held.since } }
    : { ...observed, outcome: "overtaken", hashes: hashes.length, keep: held };
}

async function openOffered(offered: { checkpoint: string; verifier_key: string }): Promise<OpenedCheckpoint> {
  try {
    return await openCheckpoint(offered.checkpoint, parseVerifierKey(offered.verifier_key));
  } catch (error) {
    if (error instanceof ProofError) throw new SplitViewError("head_unsigned", error.message);
    throw error;
  }
}

function requireConsistent(
  small: OpenedCheckpoint,
  large: OpenedCheckpoint,
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
