import type { LogProof, LogProofQuery } from "@attestore/contract";
import { hashFromHex, toHex } from "@attestore/proof";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import { readHeadOfSize } from "../../log/heads/heads.ts";
import { findLeaf, readConsistencyProof, readInclusionProof } from "../../log/tree/log-reader.ts";
import type { SqlSession } from "../../platform/database/sql-session.ts";
import { invalidRequest, notFound } from "../../platform/errors/api-error.ts";

/**
 * The proofs for a head of the log, and that signed head. `tree_size` is the size of a head that
 * the log had: other sizes were never signed, and nothing is proven about them. Throws ApiError
 * `not_found`, `invalid_request`.
 */
export async function readLogProof(
  session: SqlSession,
  signer: CheckpointSigner,
  orgId: string,
  query: LogProofQuery,
): Promise<LogProof> {
  const treeSize = readSize(query.tree_size, "/tree_size");
  const from = query.from === undefined ? null : readSize(query.from, "/from");
  if (from !== null && from > treeSize)
    throw invalidRequest("A tree cannot extend a larger one.", [
      { path: "/from", message: "is greater than tree_size" },
    ]);
  const head = await readHeadOfSize(session, orgId, treeSize);
  if (head === null) throw notFound("head of the log");
  const index = await readIndex(session, orgId, query.leaf);
  if (index === null || index >= treeSize) throw notFound("leaf in that tree");
  const inclusion = await readInclusionProof(session, orgId, index, head);
  const consistency = from === null ? null : await readConsistencyProof(session, orgId, from, head);
  return {
    inclusion: { log_index: index, tree_size: treeSize, hashes: inclusion.map(toHex) },
    consistency:
      from === null || consistency === null ? null : { from, to: treeSize, hashes: consistency.map(toHex) },
    checkpoint: await signer.sign(head),
  };
}

/** The schema accepts 16 digits, and JavaScript can't hold all such numbers exactly. */
function readSize(text: string, path: string): number {
  const size = Number(text);
  if (Number.isSafeInteger(size)) return size;
  throw invalidRequest("The query does not have the form that this call expects.", [
    { path, message: "is too large" },
  ]);
}

async function readIndex(session: SqlSession, orgId: string, leaf: string): Promise<number | null> {
  if (leaf.length === 64) return findLeaf(session, orgId, hashFromHex(leaf));
  return readSize(leaf, "/leaf");
}
