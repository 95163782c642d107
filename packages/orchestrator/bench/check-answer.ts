import { hashFromHex, noteVerifier, openCheckpoint, verifyInclusion } from "@attestore/proof";

interface Answer {
  leaf_hash: string;
  log_id: string;
  inclusion_proof: { log_index: number; tree_size: number; hashes: string[] };
  checkpoint: string;
}

/**
 * Throws unless an answer of the service proves that its receipt is in the log. `noteKey`: base64
 * of 32 bytes.
 */
export async function requireProven(body: string, noteKey: string): Promise<void> {
  const { leaf_hash, log_id, inclusion_proof: proof, checkpoint } = JSON.parse(body) as Answer;
  const log = noteVerifier(log_id, "ed25519", new Uint8Array(Buffer.from(noteKey, "base64")));
  const { size, rootHash } = await openCheckpoint(checkpoint, log);
  verifyInclusion({
    leafIndex: BigInt(proof.log_index),
    treeSize: size,
    leafHash: hashFromHex(leaf_hash),
    rootHash,
    hashes: proof.hashes.map(hashFromHex),
  });
}
