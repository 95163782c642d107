import type { Schemas } from "@attestore/contract/client";
import {
  equalBytes,
  hashFromHex,
  type NoteVerifier,
  openCheckpoint,
  type OpenedCheckpoint,
  parseVerifierKey,
  ProofError,
  verifyConsistency,
} from "@attestore/proof";
import type { ConsistencySource } from "./observe-head.ts";

export interface CheckedWitness {
  record: Schemas["WitnessRecord"];
  /** POSIX seconds, as its cosignature says; null where that does not hold. */
  timestamp_s: number | null;
  /** Null where all of it holds. */
  fault: string | null;
  /** Whether what it saw was compared with the head at hand. */
  isCompared: boolean;
}

/** Each costs a call. In a large organisation every agent saw a head of its own. */
const MAX_PROOFS = 10;

/**
 * Whether agents' cosignatures hold, and what they saw is part of the head at hand. A proof for each size that they saw is asked for once, of
 * the largest ones. Rejects where the service does not answer.
 */
export async function checkWitnesses(
  records: readonly Schemas["WitnessRecord"][],
  logKey: NoteVerifier,
  head: OpenedCheckpoint,
  prove: ConsistencySource,
): Promise<CheckedWitness[]> {
  const sizes = new Set(records.map(({ tree_size }) => tree_size));
  const compared = new Set([...sizes].toSorted((a, b) => b - a).slice(0, MAX_PROOFS));
  const asked = new Map<bigint, ReturnType<ConsistencySource>>();
  const proofWith: ProofSource = (size) => {
    if (!compared.has(Number(size))) return undefined;
    const proof = asked.get(size) ?? (size < head.size ? prove(size, head.size) : prove(head.size, size));
    asked.set(size, proof);
    return proof;
  };
  return Promise.all(records.map((record) => checkWitness(record, logKey, head, proofWith)));
}

async function checkWitness(
  record: Schemas["WitnessRecord"],
  logKey: NoteVerifier,
  head: OpenedCheckpoint,
  proofWith: ProofSource,
): Promise<CheckedWitness> {
  let timestamp_s: number | null = null;
  try {
    const key = parseVerifierKey(record.verifier_key);
    const seen = await openCheckpoint(record.checkpoint, logKey, [key]);
    const cosignature = seen.cosignatures.find(({ verifier }) => verifier === key);
    if (cosignature?.timestamp_s === undefined)
      throw new ProofError("note_signature_missing", `there is no cosignature by ${key.name}`);
    timestamp_s = cosignature.timestamp_s;
    const isCompared = await requirePartOf(seen, head, proofWith);
    return { record, timestamp_s, fault: null, isCompared };
  } catch (error) {
    if (error instanceof ProofError) return { record, timestamp_s, fault: error.message, isCompared: false };
    throw error;
  }
}

/** Undefined for a size that no proof was asked for. */
type ProofSource = (size: bigint) => ReturnType<ConsistencySource> | undefined;

/** False where it was not looked at. */
async function requirePartOf(
  seen: OpenedCheckpoint,
  head: OpenedCheckpoint,
  proofWith: ProofSource,
): Promise<boolean> {
  if (seen.size === head.size) {
    if (!equalBytes(seen.rootHash, head.rootHash))
      throw new ProofError("consistency_invalid", `it saw a different root hash for ${seen.size} leaves`);
    return true;
  }
  // While this was read the log may have grown: then this head has to be part of what the witness saw.
  const [small, large] = seen.size < head.size ? [seen, head] : [head, seen];
  if (small.size === 0n) return true;
  const asked = proofWith(seen.size);
  if (asked === undefined) return false;
  const hashes = await asked;
  if (hashes === null)
    throw new ProofError(
      "consistency_invalid",
      `the service has no proof that the ${seen.size} leaves it saw and the ${head.size} of this head are from one tree`,
    );
  verifyConsistency({
    from: small.size,
    to: large.size,
    fromRoot: small.rootHash,
    toRoot: large.rootHash,
    hashes: hashes.map(hashFromHex),
  });
  return true;
}
