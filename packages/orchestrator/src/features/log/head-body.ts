import type { LogHead } from "@attestore/contract";
import { toHex } from "@attestore/proof";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import { readNewestCheckpoint } from "../../log/heads/heads.ts";
import type { SqlSession } from "../../platform/database/sql-session.ts";

export async function headBody(
  session: SqlSession,
  signer: CheckpointSigner,
  orgId: string,
): Promise<LogHead> {
  const head = await readNewestCheckpoint(session, signer, orgId);
  return {
    log_id: head.origin,
    tree_size: head.size,
    root_hash: toHex(head.rootHash),
    timestamp: head.at.toISOString(),
    checkpoint: head.checkpoint,
  };
}
