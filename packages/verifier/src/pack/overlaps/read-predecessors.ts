import {
  formatLeaf,
  formatVerifierKey,
  hashFromHex,
  isLogOf,
  leafHash,
  type LogRange,
  parsePredecessor,
  ProofError,
  verifyInclusion,
} from "@attestore/proof";
import type { PackLog } from "../log/pack-log.ts";
import type { PackFiles } from "../files/pack-files.ts";

const MAX_PREDECESSOR = 128 * 1024;
const FILE = /^predecessors\/((?:rcpt|evt)_[0-9a-z]+)\.json$/;

/**
 * SHA-256 of what the leaves in predecessors/ cover: receipts and signed events from before the
 * pack, which only proves that the log has them.
 */
export async function* readPredecessors(
  files: PackFiles,
  log: PackLog,
  { from_index }: Pick<LogRange, "from_index">,
): AsyncGenerator<string> {
  for (const file of files.below("predecessors/")) {
    const path = files.pathAt(file);
    const id = FILE.exec(path)?.[1];
    if (id === undefined) continue;
    const body = await files.parsed("chains", path, MAX_PREDECESSOR, (bytes) => {
      const { leaf, inclusion_proof, checkpoint, log: named } = parsePredecessor(bytes);
      if (leaf.id !== id) refuse(`it belongs to ${leaf.id}`);
      if (checkpoint !== log.checkpoint || inclusion_proof.tree_size !== log.size)
        refuse("its checkpoint is not the pack's");
      if (named.verifier_key !== formatVerifierKey(log.key) || named.origin !== log.key.name)
        refuse("it names another log");
      if (!isLogOf(log.key.name, leaf.org_id)) refuse(`it belongs to ${leaf.org_id}`);
      if (inclusion_proof.log_index >= from_index) refuse("it is not from before the pack's leaves");
      verifyInclusion({
        leafIndex: BigInt(inclusion_proof.log_index),
        treeSize: BigInt(log.size),
        leafHash: leafHash(formatLeaf(leaf)),
        rootHash: log.rootHash,
        hashes: inclusion_proof.hashes.map(hashFromHex),
      });
      return leaf.body_sha256;
    });
    if (body !== null) yield body;
  }
}

function refuse(why: string): never {
  throw new ProofError("malformed_evidence", why);
}
