import {
  type GenerationSummary,
  generationSummaries,
  type PackGenerations,
  readLostHead,
  toHex,
  verifyGenerations,
} from "@attestore/proof";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import { readBeginnings, readLostHeads } from "../../log/heads/generations.ts";
import type { SignedCheckpoint } from "../../log/heads/heads.ts";
import { logVerifier } from "../../log/checkpoints/log-keys.ts";
import { readInclusionProof } from "../../log/tree/log-reader.ts";
import type { SqlSession } from "../../platform/database/sql-session.ts";

/** The generations of the log up to the pack's checkpoint; null for the first. */
export async function readPackGenerations(
  session: SqlSession,
  signer: CheckpointSigner,
  orgId: string,
  head: SignedCheckpoint,
): Promise<PackGenerations | null> {
  const beginnings = await readBeginnings(session, signer, orgId, head.origin);
  if (beginnings.length === 0) return null;
  const began: PackGenerations["began"] = [];
  for (const event of beginnings) {
    const { log_index } = event.inclusion_proof;
    const hashes = await readInclusionProof(session, orgId, log_index, head);
    began.push({ event, hashes: hashes.map(toHex) });
  }
  return { v: 1, began, lost: await readLostHeads(session, signer, orgId, head, null) };
}

/** The same as the pack's summary has it. */
export async function summarize(
  generations: PackGenerations | null,
  signer: CheckpointSigner,
  { origin }: SignedCheckpoint,
): Promise<GenerationSummary[]> {
  if (generations === null) return [];
  const { began, lost } = generations;
  const events = began.map(({ event }) => event);
  const rollbacks = await verifyGenerations(events, logVerifier(signer.identity, origin), began.length + 1);
  return generationSummaries(rollbacks, lost.map(readLostHead));
}
