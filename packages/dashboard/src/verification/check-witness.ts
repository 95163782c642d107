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
}

/**
 * Whether an agent's cosignature holds, and what it saw is part of the head at hand. A proof for each size that witnesses saw is asked for once.
 * Rejects where the service does not answer.
 */
export async function checkWitnesses(
  records: readonly Schemas["WitnessRecord"][],
  logKey: NoteVerifier,
  head: OpenedCheckpoint,
  prove: ConsistencySource,
): Promise<CheckedWitness[]> {
  const proofs = new Map<bigint, ReturnType<ConsistencySource>>();
  const proofFrom = (size: bigint): ReturnType<ConsistencySource> => {
    const asked = proofs.get(size) ?? prove(size, head.size);
    proofs.set(size, asked);
    return asked;
  };
  return Promise.all(records.map((record) => checkWitness(record, logKey, head, proofFrom)));
}

async function checkWitness(
  record: Schemas["WitnessRecord"],
  logKey: NoteVerifier,
  head: OpenedCheckpoint,
  proofFrom: (size: bigint) => ReturnType<ConsistencySource>,
): Promise<CheckedWitness> {
  let timestamp_s: number | null = null;
  try {
    const key = parseVerifierKey(record.verifier_key);
    const seen = await openCheckpoint(record.checkpoint, logKey, [key]);
    const cosignature = seen.cosignatures.find(({ verifier }) => verifier === key);
    if (cosignature?.timestamp_s === undefined)
      throw new ProofError("note_signature_missing", `no cosignature by ${key.name}`);
    timestamp_s = cosignature.timestamp_s;
    await requirePartOf(seen, head, proofFrom);
    return { record, timestamp_s, fault: null };
  } catch (error) {
    if (error instanceof ProofError) return { record, timestamp_s, fault: error.message };
    throw error;
  }
}

async function requirePartOf(
  seen: OpenedCheckpoint,
  head: OpenedCheckpoint,
  proofFrom: (size: bigint) => ReturnType<ConsistencySource>,
): Promise<void> {
  if (seen.size === head.size) {
    if (!equalBytes(seen.rootHash, head.rootHash))
      throw new ProofError("consistency_invalid", `it saw another root for ${seen.size} leaves`);
    return;
  }
  if (seen.size > head.size)
    throw new ProofError("consistency_invalid", `it saw ${seen.size} leaves, and this head has ${head.size}`);
  if (seen.size === 0n) return;
  const hashes = await proofFrom(seen.size);
  if (hashes === null)
    throw new ProofError(
      "consistency_invalid",
      `no proof is given that the ${seen.size} leaves that it saw are part of this head`,
    );
  verifyConsistency({
    from: seen.size,
    to: head.size,
    fromRoot: seen.rootHash,
    toRoot: head.rootHash,
    hashes: hashes.map(hashFromHex),
  });
}
