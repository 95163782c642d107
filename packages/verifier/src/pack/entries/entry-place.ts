import {
  type EventBundle,
  ProofError,
  type ReceiptBundle,
  type EnvelopeJson,
  type TrustedKey,
} from "@attestore/proof";
import type { KnownAgent } from "../agents/read-agents.ts";
import type { PackLog } from "../log/pack-log.ts";

/** A receipt or event by its file, and the leaf's index if that belongs to the range of bodies. */
export interface Named {
  file: number;
  id: string;
  index: number | undefined;
}

/** All proofs of a pack lead to its one checkpoint. */
export function requirePlace(
  { leaf, inclusion_proof, checkpoint }: ReceiptBundle | EventBundle,
  { id, index }: Named,
  log: PackLog,
): void {
  if (leaf.id !== id) refuse(`it belongs to ${leaf.id}`);
  if (checkpoint !== log.checkpoint) refuse("its checkpoint is not the pack's");
  if (inclusion_proof.tree_size !== log.size) refuse("its proof is for another tree than the checkpoint's");
  if (index !== undefined && index !== inclusion_proof.log_index)
    refuse(`it says leaf ${inclusion_proof.log_index}, but is leaf ${index}`);
}

export function refuse(why: string): never {
  throw new ProofError("malformed_evidence", why);
}

/**
 * The key that the envelope names. The name is not signed, but it only chooses among the agent's
 * keys.
 */
export function signingKey({ keys, inUse }: KnownAgent, envelope: EnvelopeJson): TrustedKey {
  const keyid = envelope.signatures[0]?.keyid;
  return keys.find(({ fingerprint }) => fingerprint === keyid) ?? inUse;
}
