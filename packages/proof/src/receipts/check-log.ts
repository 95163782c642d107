import { plural } from "../text/plural.ts";
import { sha256 } from "#sha256";
import { toBase64 } from "../base64.ts";
import { hashFromHex, toHex } from "../hex.ts";
import type { Envelope } from "../dsse/envelope.ts";
import { leafHash } from "../merkle/hashing.ts";
import { verifyInclusion } from "../merkle/verify-inclusion.ts";
import { formatLeaf } from "../log/leaf.ts";
import { isLogOf, keyOfGeneration, openLogCheckpoint } from "../log/generation-name.ts";
import { type Checkpoint, parseCheckpoint } from "../notes/checkpoint.ts";
import { parseNote } from "../notes/note.ts";
import { formatVerifierKey, type NoteVerifier } from "../notes/verifier-key.ts";
import { ProofError } from "../proof-error.ts";
import type { ReceiptBundle } from "./bundle.ts";
import { failed, held, notChecked, type ReceiptCheck, refusal } from "./check.ts";
import { receiptKind, type Statement } from "./statement.ts";

const NEEDS_LOG_KEY = "the log's verifier key is needed, from somewhere other than this file";

/** Checks that the leaf covers this envelope and agrees with its statement. */
export function checkLeaf(
  bundle: ReceiptBundle,
  envelope: Envelope,
  statement: Statement | undefined,
): ReceiptCheck {
  const { leaf } = bundle;
  const differences = [
    leaf.body_sha256 !== toHex(sha256(envelope.payload)) && "body_sha256 is not the SHA-256 of the payload",
    leaf.signature !== toBase64(envelope.signature) && "signature is not the envelope's",
    !leaf.id.startsWith("rcpt_") && "id is not a receipt's",
    statement && leaf.kind !== receiptKind(statement) && "kind is not the statement's",
    statement && leaf.org_id !== statement.predicate.org_id && "org_id is not the statement's",
    statement && leaf.actor_id !== statement.predicate.agent_id && "actor_id is not the statement's agent",
  ].filter((difference) => typeof difference === "string");
  if (differences.length > 0) return failed("leaf", differences.join("; "));
  return held(
    "leaf",
    `${leaf.id}, recorded ${leaf.recorded_at}: payload's SHA-256, signature, kind, org and agent agree`,
  );
}

export function checkLogKey({ log }: ReceiptBundle, logKey: NoteVerifier | undefined): ReceiptCheck {
  if (logKey === undefined)
    return notChecked("log_key", `${NEEDS_LOG_KEY}; the bundle claims ${log.verifier_key}`);
  const key = ofGeneration(logKey, log.origin);
  if (log.verifier_key !== formatVerifierKey(key))
    return failed("log_key", `the bundle says ${log.verifier_key}, you said ${formatVerifierKey(logKey)}`);
  if (log.origin !== key.name)
    return failed("log_key", `the bundle says the origin is ${log.origin}, the key is ${logKey.name}'s`);
  return held("log_key", log.verifier_key);
}

/** The given key under the name of the bundle's generation, or as it is for another log. */
function ofGeneration(logKey: NoteVerifier, origin: string): NoteVerifier {
  try {
    return keyOfGeneration(logKey, origin);
  } catch (error) {
    if (error instanceof ProofError) return logKey;
    throw error;
  }
}

/** A checkpoint with all its signatures, and the key whose signature on it is known to be valid. */
export interface KnownCheckpoint {
  note: string;
  log: NoteVerifier;
}

/** Checks the checkpoint, and the proof from the leaf to it. */
export async function checkInclusion(
  bundle: ReceiptBundle,
  logKey: NoteVerifier | undefined,
  known?: KnownCheckpoint,
): Promise<ReceiptCheck[]> {
  const opened = await readCheckpoint(bundle, logKey, known);
  const { checkpoint } = opened;
  if (checkpoint === undefined)
    return [opened.check, notChecked("inclusion", "there is no checkpoint to lead to")];
  const refused = await refusal(() => {
    requireInTree(bundle, checkpoint);
  });
  if (refused) return [opened.check, failed("inclusion", refused.message)];
  const where = `leaf ${bundle.inclusion_proof.log_index} of ${checkpoint.size}, root ${toHex(checkpoint.rootHash)}`;
  return [
    opened.check,
    opened.check.result === "held"
      ? held("inclusion", where)
      : notChecked(
          "inclusion",
          `the proof leads to ${where}, but the checkpoint is not shown to be the log's`,
        ),
  ];
}

async function readCheckpoint(
  { checkpoint: note, log, leaf }: ReceiptBundle,
  logKey: NoteVerifier | undefined,
  known: KnownCheckpoint | undefined,
): Promise<{ check: ReceiptCheck; checkpoint?: Checkpoint }> {
  let checkpoint: Checkpoint;
  try {
    checkpoint = parseCheckpoint(parseNote(note).text);
  } catch (error) {
    if (error instanceof ProofError) return { check: failed("checkpoint", error.message) };
    throw error;
  }
  const { origin, extensions, size } = checkpoint;
  if (extensions.length > 0) return { check: failed("checkpoint", "it has extension lines"), checkpoint };
  if (origin !== log.origin)
    return {
      check: failed("checkpoint", `its origin is ${origin}, the bundle's log is ${log.origin}`),
      checkpoint,
    };
  if (!isLogOf(origin, leaf.org_id))
    return { check: failed("checkpoint", `${origin} is not the log of ${leaf.org_id}`), checkpoint };
  if (logKey === undefined) return { check: notChecked("checkpoint", NEEDS_LOG_KEY), checkpoint };
  const isKnown = known !== undefined && known.note === note && known.log === logKey;
  const refused = isKnown ? undefined : await refusal(() => openLogCheckpoint(note, logKey));
  const check = refused
    ? failed("checkpoint", refused.message)
    : held("checkpoint", `signed by ${origin} at ${plural(size, "leaf", "leaves")}`);
  return { check, checkpoint };
}

function requireInTree(
  { leaf, inclusion_proof: proof }: ReceiptBundle,
  { size, rootHash }: Checkpoint,
): void {
  if (BigInt(proof.tree_size) !== size)
    throw new ProofError(
      "inclusion_invalid",
      `the proof is for ${plural(proof.tree_size, "leaf", "leaves")}, the checkpoint for ${size}`,
    );
  verifyInclusion({
    leafIndex: BigInt(proof.log_index),
    treeSize: size,
    leafHash: leafHash(formatLeaf(leaf)),
    rootHash,
    hashes: proof.hashes.map(hashFromHex),
  });
}
