import { plural } from "../text/format.ts";
import type { Schemas } from "@attestore/contract/client";
import {
  equalBytes,
  hashFromHex,
  type NoteVerifier,
  openLogCheckpoint,
  type OpenedCheckpoint,
  parseVerifierKey,
  ProofError,
  verifyConsistency,
} from "@attestore/proof";
import type { ConsistencySource } from "./observe-head.ts";

export interface CheckedWitness {
  record: Schemas["WitnessRecord"];
  /** POSIX seconds from its cosignature; null if that does not hold. */
  timestamp_s: number | null;
  /** Null if everything holds. */
  fault: string | null;
  /** Whether the head it saw was compared with the current head. */
  isCompared: boolean;
}

/** Each costs a call, and in a large organisation every agent may have seen a different head. */
const MAX_PROOFS = 10;

/**
 * Checks that agents' cosignatures hold, and that the heads they saw are part of the current head.
 * Fetches one proof for each of the largest sizes they saw. Rejects if the service does not answer.
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
    const seen = await openLogCheckpoint(record.checkpoint, logKey, [key]);
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

/** Undefined for a size whose proof was not fetched. */
type ProofSource = (size: bigint) => ReturnType<ConsistencySource> | undefined;

/** False if it was not compared. */
async function requirePartOf(
  seen: OpenedCheckpoint,
  head: OpenedCheckpoint,
  proofWith: ProofSource,
): Promise<boolean> {
  if (seen.size === head.size) {
    if (!equalBytes(seen.rootHash, head.rootHash))
      throw new ProofError(
        "consistency_invalid",
        `it saw a different root hash for ${plural(seen.size, "leaf", "leaves")}`,
      );
    return true;
  }
  // The log may have grown since this head was read. Then this head must be part of the one the
  // witness saw.
  const [small, large] = seen.size < head.size ? [seen, head] : [head, seen];
  if (small.size === 0n) return true;
  const asked = proofWith(seen.size);
  if (asked === undefined) return false;
  const hashes = await asked;
  if (hashes === null)
    throw new ProofError(
      "consistency_invalid",
      `the service has no proof that the ${plural(seen.size, "leaf", "leaves")} it saw and the ${head.size} of this head are from one tree`,
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
