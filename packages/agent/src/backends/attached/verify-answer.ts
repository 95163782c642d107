import type { EventAccepted, EventRequest, ReceiptAccepted } from "@attestore/contract";
import {
  formatLeaf,
  formatPublicKeyWire,
  formatVerifierKey,
  hashFromHex,
  keyOfGeneration,
  leafHash,
  openLogCheckpoint,
  ProofError,
  requireEventLeaf,
  toHex,
  verifyInclusion,
  verifyReceipt,
  type EnvelopeJson,
  type ServiceEventBundle,
  type ReceiptBundle,
} from "@attestore/proof";
import { ownKeyOf } from "../../key-rotation/own-keys.ts";
import { readFollowed } from "../../log/followed-generations.ts";
import type { Attachment } from "../../service/attachment.ts";
import { ServiceError } from "../../transport/service-error.ts";

/**
 * The service claims that an entry is in the log, and does not prove it. The claim is not believed:
 * the entry stays where it is, and the answer is kept as evidence.
 */
export class UnprovenAnswer extends Error {
  readonly code = "answer_unproven";

  constructor(what: string) {
    super(`the service's answer does not prove that the entry is in the log: ${what}`);
    this.name = "UnprovenAnswer";
  }
}

/**
 * Builds and verifies the bundle that proves a receipt to anybody, from the service's answer.
 * @throws UnprovenAnswer
 */
export async function provenBundle(
  attachment: Attachment,
  envelope: EnvelopeJson,
  answer: ReceiptAccepted,
): Promise<ReceiptBundle> {
  const { layout, logKey } = attachment;
  const publicKey = await ownKeyOf(layout, envelope);
  const { origin, generations } = await generationOfAnswer(attachment, answer.checkpoint);
  const bundle: ReceiptBundle = {
    envelope,
    public_key: formatPublicKeyWire(publicKey),
    leaf: answer.leaf,
    inclusion_proof: answer.inclusion_proof,
    checkpoint: answer.checkpoint,
    log: { origin, verifier_key: formatVerifierKey(keyOfGeneration(logKey, origin)) },
    ...(generations.length === 0 ? {} : { generations: [...generations] }),
  };
  requirePlace(answer, answer.receipt_id);
  const { verdict, checks } = await verifyReceipt({ bundle, publicKey, logKey });
  if (verdict !== "true") {
    const faults = checks.filter(({ id, result }) => result !== "held" && id !== "ciphertext");
    throw new UnprovenAnswer(faults.map(({ title, detail }) => `not held: ${title} (${detail})`).join("; "));
  }
  return bundle;
}

/**
 * Verifies that an event is in the log, under the id that the service gave it. @throws
 * UnprovenAnswer
 */
export async function requireProvenEvent(
  attachment: Attachment,
  event: EventRequest,
  envelope: EnvelopeJson | undefined,
  answer: EventAccepted,
): Promise<void> {
  const { leaf, inclusion_proof: proof } = answer;
  requirePlace(answer, answer.event_id);
  const differences = [
    leaf.org_id !== attachment.orgId && "the leaf belongs to another organisation",
    leaf.actor_id !== attachment.agentId && "the leaf belongs to another agent",
  ].filter((difference) => typeof difference === "string");
  if (differences.length > 0) throw new UnprovenAnswer(differences.join("; "));
  try {
    requireEventLeaf(leaf, event, envelope);
    await generationOfAnswer(attachment, answer.checkpoint);
    const checkpoint = await openLogCheckpoint(answer.checkpoint, attachment.logKey);
    if (BigInt(proof.tree_size) !== checkpoint.size)
      throw new UnprovenAnswer("the proof is for another tree than the checkpoint's");
    verifyInclusion({
      leafIndex: BigInt(proof.log_index),
      treeSize: checkpoint.size,
      leafHash: leafHash(formatLeaf(leaf)),
      rootHash: checkpoint.rootHash,
      hashes: proof.hashes.map(hashFromHex),
    });
  } catch (error) {
    if (error instanceof ProofError) throw new UnprovenAnswer(error.message);
    throw error;
  }
}

/**
 * The generation of the log that an answer's checkpoint is of, and the events that began it. This
 * agent follows to a generation with a heartbeat, which brings its newest head: an answer of one
 * that it does not know yet counts as none. A first generation if the checkpoint is no such thing;
 * the proof is refused then. @throws ServiceError
 */
async function generationOfAnswer(
  { layout, logKey }: Attachment,
  checkpoint: string,
): Promise<{ origin: string; generations: readonly ServiceEventBundle[] }> {
  let origin = logKey.name;
  let generation = 1;
  try {
    ({ origin, generation } = await openLogCheckpoint(checkpoint, logKey));
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
  }
  const { began } = await readFollowed(layout);
  if (generation > began.length + 1)
    throw new ServiceError(
      "unreachable",
      `the log continues as its generation ${generation}, which this agent has not followed yet: it will with its next heartbeat, which \`attestore run\` sends`,
    );
  return { origin, generations: began.slice(0, generation - 1) };
}

/** Verifies that the parts of an answer are about one entry. */
function requirePlace(answer: ReceiptAccepted | EventAccepted, id: string): void {
  const { leaf } = answer;
  if (leaf.id !== id) throw new UnprovenAnswer(`the leaf is ${leaf.id}, the answer ${id}`);
  if (answer.log_index !== answer.inclusion_proof.log_index)
    throw new UnprovenAnswer("the answer names two places in the log");
  let hash: string;
  try {
    hash = toHex(leafHash(formatLeaf(leaf)));
  } catch (error) {
    if (error instanceof ProofError) throw new UnprovenAnswer(error.message);
    throw error;
  }
  if (hash !== answer.leaf_hash) throw new UnprovenAnswer("leaf_hash is not the hash of the leaf");
}
