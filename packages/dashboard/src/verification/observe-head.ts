import {
  equalBytes,
  hashFromHex,
  openCheckpoint,
  type OpenedCheckpoint,
  parseVerifierKey,
  ProofError,
  verifyConsistency,
} from "@attestore/proof";
import { type ContradictionReason, type HeldHead, openHeldHead } from "../verifier/held-head.ts";

/** What a log is seen to do. `overtaken`: an answer that is older than what was kept, and part of it. */
export type Observation = {
  outcome: "first" | "same" | "grown" | "overtaken";
  offered: OpenedCheckpoint;
  /** What was kept before; null at first. */
  before: OpenedCheckpoint | null;
  /** Hashes that the proof took. */
  hashes: number;
  /** What is to be kept now. */
  keep: HeldHead;
};

/** The log says something that what it said before excludes. */
export class LogContradiction extends Error {
  readonly reason: ContradictionReason;

  constructor(reason: ContradictionReason, message: string) {
    super(message);
    this.name = "LogContradiction";
    this.reason = reason;
  }
}

/** Answers with the hashes of a consistency proof; null where the service says that it has none. Rejects where no answer came. */
export type ConsistencySource = (from: bigint, to: bigint) => Promise<readonly string[] | null>;

/**
 * Holds a head that the service shows against the last one that was kept here, as witnesses do (C2SP tlog-witness). Throws LogContradiction;
 * ProofError where what was kept cannot be read; and what `prove` throws, which proves nothing either way.
 */
export async function observeHead(
  offered: { checkpoint: string; verifier_key: string },
  held: HeldHead | null,
  prove: ConsistencySource,
  now: Date,
): Promise<Observation> {
  if (held !== null && held.verifier_key !== offered.verifier_key)
    throw new LogContradiction(
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
      throw new LogContradiction("head_forked", `two root hashes for ${head.size} leaves`);
    return { ...observed, outcome: "same", hashes: 0, keep: { ...seen, since: held.since } };
  }
  const isNewer = head.size > before.size;
  const [small, large] = isNewer ? [before, head] : [head, before];
  const hashes = await prove(small.size, large.size);
  if (hashes === null)
    throw new LogContradiction(
      isNewer ? "head_inconsistent" : "head_rolled_back",
      isNewer
        ? `the service has no proof that its ${large.size} leaves begin with the ${small.size} that this browser saw before`
        : `it had ${large.size} leaves before and has ${small.size} now, and the service has no proof that connects them`,
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
    if (error instanceof ProofError) throw new LogContradiction("head_unsigned", error.message);
    throw error;
  }
}

function requireConsistent(
  small: OpenedCheckpoint,
  large: OpenedCheckpoint,
  hashes: readonly string[],
  reason: ContradictionReason,
): void {
  // Every tree begins with the empty one.
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
    throw new LogContradiction(
      reason,
      `the proof from ${small.size} to ${large.size} leaves does not hold: ${error.message}`,
    );
  }
}
