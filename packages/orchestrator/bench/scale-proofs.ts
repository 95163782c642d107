import {
  hashFromHex,
  leafHash,
  openCheckpoint,
  formatLeaf,
  parseVerifierKey,
  verifyConsistency,
  verifyInclusion,
  type NoteVerifier,
  type OpenedCheckpoint,
} from "@attestore/proof";

interface Inclusion {
  log_index: number;
  tree_size: number;
  hashes: string[];
}

interface Proof {
  inclusion: Inclusion;
  consistency: { from: number; to: number; hashes: string[] } | null;
  checkpoint: string;
}

interface Bundle {
  leaf: Parameters<typeof formatLeaf>[0];
  inclusion_proof: Inclusion;
  checkpoint: string;
  log: { verifier_key: string };
}

/** Throws unless a bundle's leaf is in its checkpoint's tree. Gives the log's key. */
export async function requireBundle(body: string): Promise<NoteVerifier> {
  const bundle = JSON.parse(body) as Bundle;
  const log = parseVerifierKey(bundle.log.verifier_key);
  const head = await openCheckpoint(bundle.checkpoint, log);
  requireInclusion(bundle.inclusion_proof, leafHash(formatLeaf(bundle.leaf)), head);
  return log;
}

/** Throws unless an answer proves that the leaf of this hash (hex) is in its checkpoint's tree. */
export async function requireIncluded(body: string, log: NoteVerifier, leaf: string): Promise<Proof> {
  const proof = JSON.parse(body) as Proof;
  requireInclusion(proof.inclusion, hashFromHex(leaf), await openCheckpoint(proof.checkpoint, log));
  return proof;
}

/** Throws unless an answer proves that its checkpoint's tree begins with the one of `earlier`. */
export async function requireConsistent(body: string, log: NoteVerifier, earlier: string): Promise<void> {
  const { consistency, checkpoint } = JSON.parse(body) as Proof;
  if (consistency === null) throw new Error("no consistency proof was answered");
  const from = await openCheckpoint(earlier, log);
  const to = await openCheckpoint(checkpoint, log);
  verifyConsistency({
    from: from.size,
    to: to.size,
    fromRoot: from.rootHash,
    toRoot: to.rootHash,
    hashes: consistency.hashes.map(hashFromHex),
  });
}

function requireInclusion(proof: Inclusion, leaf: Uint8Array, { size, rootHash }: OpenedCheckpoint): void {
  verifyInclusion({
    leafIndex: BigInt(proof.log_index),
    treeSize: size,
    leafHash: leaf,
    rootHash,
    hashes: proof.hashes.map(hashFromHex),
  });
}
