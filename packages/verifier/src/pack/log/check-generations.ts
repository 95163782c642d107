import {
  GENERATIONS_FILE,
  formatLeaf,
  hashFromHex,
  leafHash,
  LOG_HEAD_LOST,
  LOG_ROLLED_BACK,
  type LostLogHead,
  isServiceLeaf,
  type Leaf,
  type NoteVerifier,
  parseLogName,
  parsePackGenerations,
  ProofError,
  readLostHead,
  requireNoFork,
  type Rollback,
  rollbackText,
  verifyGenerations,
  verifyInclusion,
  plural,
} from "@attestore/proof";
import type { Findings } from "../findings.ts";
import type { PackFiles } from "../files/pack-files.ts";

const MAX_GENERATIONS_FILE = 64 * 1024 * 1024;
/** At most this many generations are named. */
const MAX_NAMED = 10;

/** The generations of a pack's log, as its events say. */
export interface CheckedGenerations {
  /** How each later generation began; empty for a log that never lost an entry. */
  rollbacks: readonly Rollback[];
  /** Heads that came to light later. */
  lost: readonly LostLogHead[];
  /** Ids of all these events. */
  ids: ReadonlySet<string>;
}

/** The pack's tree. */
interface Tree {
  key: NoteVerifier;
  checkpoint: string;
  size: number;
  rootHash: Uint8Array;
}

/**
 * Checks that each generation of the log up to the pack's began with its service event, that all
 * of these are in the pack's tree, and that no head is named as lost that shows a fork. Returns
 * null, with a finding, if not.
 */
export async function checkGenerations(
  files: PackFiles,
  findings: Findings,
  tree: Tree,
): Promise<CheckedGenerations | null> {
  const { generation } = parseLogName(tree.key.name);
  if (generation === 1) {
    if (!files.has(GENERATIONS_FILE)) return { rollbacks: [], lost: [], ids: new Set() };
    findings.fail("generations", `${GENERATIONS_FILE} is there, and the log is in its first generation`);
    return null;
  }
  return files.parsed("generations", GENERATIONS_FILE, MAX_GENERATIONS_FILE, async (bytes) => {
    const { began, lost } = parsePackGenerations(bytes);
    const rollbacks = await verifyGenerations(
      began.map(({ event }) => event),
      tree.key,
      generation,
    );
    for (const { event, hashes } of began)
      requireInTree(tree, { ...event, inclusion_proof: { ...event.inclusion_proof, hashes } });
    const heads = lost.map((event) => {
      if (event.checkpoint !== tree.checkpoint || event.inclusion_proof.tree_size !== tree.size)
        throw new ProofError("malformed_evidence", `the checkpoint of ${event.leaf.id} is not the pack's`);
      requireInTree(tree, event);
      return readLostHead(event);
    });
    requireNoFork(rollbacks, heads);
    const named = rollbacks.slice(-MAX_NAMED).map(rollbackText).join("; ");
    const since = heads.length === 0 ? "" : `; ${plural(heads.length, "lost head")} named later`;
    findings.hold("generations", `generation ${generation}: ${named}${since}`);
    const ids = new Set([...began.map(({ event }) => event), ...lost].map(({ leaf }) => leaf.id));
    return { rollbacks, lost: heads, ids };
  });
}

function requireInTree(
  { size, rootHash }: Tree,
  { leaf, inclusion_proof: proof }: { leaf: Leaf; inclusion_proof: { log_index: number; hashes: string[] } },
): void {
  verifyInclusion({
    leafIndex: BigInt(proof.log_index),
    treeSize: BigInt(size),
    leafHash: leafHash(formatLeaf(leaf)),
    rootHash,
    hashes: proof.hashes.map(hashFromHex),
  });
}

/** Checks that the log has no other event of these kinds than the pack names. */
export function requireNamed(
  findings: Findings,
  { ids }: CheckedGenerations,
  { leaf, index }: { leaf: Leaf; index: number },
): void {
  if (leaf.kind !== LOG_ROLLED_BACK && leaf.kind !== LOG_HEAD_LOST) return;
  if (isServiceLeaf(leaf) && !ids.has(leaf.id))
    findings.fail("generations", `leaf ${index}, ${leaf.kind}, is missing from ${GENERATIONS_FILE}`);
}
