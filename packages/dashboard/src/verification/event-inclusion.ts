import { plural } from "../text/format.ts";
import type { Schemas } from "@attestore/contract/client";
import {
  canonicalJson,
  type EnvelopeJson,
  envelopeFromJson,
  equalBytes,
  eventOf,
  formatLeaf,
  hashFromHex,
  type Leaf,
  leafHash,
  type NoteVerifier,
  openLogCheckpoint,
  type OpenedLogCheckpoint,
  type ServiceEventBundle,
  ProofError,
  requireHeadOf,
  requireNoFork,
  rollbackText,
  requireEventLeaf,
  sha256,
  toBase64,
  toHex,
  utf8,
  verifyGenerations,
  verifyInclusion,
} from "@attestore/proof";
import type { CheckedLine } from "./checked-line.ts";

const TITLES = {
  event: "log entry, rebuilt from this event's record",
  checkpoint: "checkpoint signed by the log",
  generation: "each generation of the log says what was lost",
  inclusion: "event in the log",
} as const;
type Id = keyof typeof TITLES;

const line = (id: Id, result: CheckedLine["result"], detail: string): CheckedLine => ({
  id,
  title: TITLES[id],
  result,
  detail,
});

/**
 * Checks that the log holds the event as shown: rebuilds its leaf from the record (docs/formats.md,
 * Leaf), and verifies the proof from that leaf to a head signed by the log. `began` are the events
 * that began the log's later generations.
 */
export async function checkEvent(
  record: Schemas["EventRecord"],
  proof: Schemas["LogProof"],
  logKey: NoteVerifier,
  began: readonly ServiceEventBundle[] = [],
): Promise<CheckedLine[]> {
  const lines: CheckedLine[] = [];
  const leaf = eventLeaf(record);
  lines.push(
    leaf instanceof ProofError
      ? line("event", "failed", leaf.message)
      : equalBytes(leaf, hashFromHex(record.leaf_hash))
        ? line("event", "held", `the record gives the leaf hash ${record.leaf_hash}`)
        : line(
            "event",
            "failed",
            `the record gives the leaf hash ${toHex(leaf)}, but the service says ${record.leaf_hash}`,
          ),
  );
  let head: OpenedLogCheckpoint;
  try {
    head = await openLogCheckpoint(proof.checkpoint, logKey);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    return [
      ...lines,
      line("checkpoint", "failed", error.message),
      line("inclusion", "not_checked", "it needs a checkpoint whose signature holds"),
    ];
  }
  lines.push(
    line("checkpoint", "held", `signed by ${head.origin} at ${plural(head.size, "leaf", "leaves")}`),
  );
  if (head.generation > 1) lines.push(await generationLine(head, logKey, began));
  if (leaf instanceof ProofError)
    return [...lines, line("inclusion", "not_checked", "it needs the log entry, which could not be rebuilt")];
  return [...lines, inclusionLine(record, proof.inclusion, leaf, head)];
}

function eventLeaf(record: Schemas["EventRecord"]): Uint8Array | ProofError {
  const { id, org_id, kind, actor } = record;
  try {
    const event = eventOf(record);
    const envelopeJson = record.envelope as EnvelopeJson | undefined;
    const envelope = envelopeJson === undefined ? null : envelopeFromJson(envelopeJson);
    const leaf: Leaf = {
      v: 1,
      kind,
      org_id,
      id,
      actor_id: actor.id,
      recorded_at: record.created_at,
      body_sha256: toHex(sha256(envelope?.payload ?? utf8(canonicalJson(event)))),
      ...(envelope === null ? {} : { signature: toBase64(envelope.signature) }),
    };
    requireEventLeaf(leaf, event, envelopeJson);
    return leafHash(formatLeaf(leaf));
  } catch (error) {
    if (error instanceof ProofError) return error;
    throw error;
  }
}

async function generationLine(
  { origin, size, generation }: OpenedLogCheckpoint,
  logKey: NoteVerifier,
  began: readonly ServiceEventBundle[],
): Promise<CheckedLine> {
  try {
    const rollbacks = await verifyGenerations(began, logKey, generation);
    requireNoFork(rollbacks, []);
    requireHeadOf(rollbacks, { origin, size: Number(size) });
    return line("generation", "held", rollbacks.map(rollbackText).join("; "));
  } catch (error) {
    if (error instanceof ProofError) return line("generation", "failed", error.message);
    throw error;
  }
}

function inclusionLine(
  record: Schemas["EventRecord"],
  { log_index, tree_size, hashes }: Schemas["InclusionProof"],
  leaf: Uint8Array,
  { size, rootHash }: OpenedLogCheckpoint,
): CheckedLine {
  try {
    if (log_index !== record.log_index)
      throw new ProofError(
        "inclusion_invalid",
        `the proof is for leaf ${log_index}, but the record says leaf ${record.log_index}`,
      );
    if (BigInt(tree_size) !== size)
      throw new ProofError(
        "inclusion_invalid",
        `the proof is for ${plural(tree_size, "leaf", "leaves")}, but the checkpoint has ${size}`,
      );
    verifyInclusion({
      leafIndex: BigInt(log_index),
      treeSize: size,
      leafHash: leaf,
      rootHash,
      hashes: hashes.map(hashFromHex),
    });
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    return line("inclusion", "failed", error.message);
  }
  return line("inclusion", "held", `leaf ${log_index} of ${size}, root ${toHex(rootHash)}`);
}
