import type { LogGenerations, LogGenerationsQuery } from "@attestore/contract";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import { readBeginnings, readLostHeads } from "../../log/heads/generations.ts";
import { readNewestCheckpoint } from "../../log/heads/heads.ts";
import type { SqlSession } from "../../platform/database/sql-session.ts";

/** How the log's later generations began, and which lost heads came to light since. */
export async function generationsBody(
  session: SqlSession,
  signer: CheckpointSigner,
  orgId: string,
  { tree_size }: LogGenerationsQuery,
): Promise<LogGenerations> {
  const head = await readNewestCheckpoint(session, signer, orgId);
  const size = tree_size === undefined ? null : Number(tree_size);
  return {
    began: await readBeginnings(session, signer, orgId, head.origin),
    lost: await readLostHeads(session, signer, orgId, head, size),
  };
}
