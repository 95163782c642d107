import { parseLeaf, type Hash, plural } from "@attestore/proof";
import type { CheckpointSigner } from "../checkpoints/checkpoint-signer.ts";
import { readHeadOfSize } from "./heads.ts";
import { LogCorruption } from "../log-corruption.ts";
import { readInclusionProof } from "../tree/log-reader.ts";
import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";

/** An entry's place in its log, with the inclusion proof. */
export interface Inclusion {
  /** The entry's id, from its leaf. */
  id: string;
  origin: string;
  logIndex: number;
  leaf: Uint8Array;
  leafHash: Hash;
  treeSize: number;
  /** Inclusion proof in the tree of `treeSize` leaves. */
  hashes: readonly Hash[];
  /** The signed head of that size. */
  checkpoint: string;
}

const LEAF: PreparedQuery = {
  name: "log_leaf",
  text: "select leaf, leaf_hash from log_leaves where org_id = $1 and log_index = $2",
};

/**
 * An entry's place in the log, with its proof for a recorded head. The result is always the same,
 * so an answer can be repeated byte for byte.
 */
export async function readInclusion(
  session: SqlSession,
  signer: CheckpointSigner,
  entry: { orgId: string; logIndex: number; treeSize: number },
): Promise<Inclusion> {
  const { orgId, logIndex, treeSize } = entry;
  const [[row], head] = await Promise.all([
    session.run<{ leaf: Buffer; leaf_hash: Buffer }>(LEAF, [orgId, logIndex]),
    readHeadOfSize(session, orgId, treeSize),
  ]);
  if (row === undefined || head === null)
    throw new LogCorruption(
      "log_incomplete",
      `${orgId} lacks leaf ${logIndex} or its head of ${plural(treeSize, "leaf", "leaves")}`,
    );
  const hashes = await readInclusionProof(session, orgId, logIndex, head);
  return {
    id: parseLeaf(row.leaf).id,
    origin: head.origin,
    logIndex,
    leaf: row.leaf,
    leafHash: row.leaf_hash,
    treeSize,
    hashes,
    checkpoint: await signer.sign(head),
  };
}
