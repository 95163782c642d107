import type { ReceiptBundle } from "@attestore/contract";
import { formatTlogProof, formatVerifierKey, hashFromHex, parseLeaf, toHex } from "@attestore/proof";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import { logVerifier } from "../../log/checkpoints/log-keys.ts";
import { readBeginnings } from "../../log/heads/generations.ts";
import { readNewestCheckpoint } from "../../log/heads/heads.ts";
import { readInclusion } from "../../log/heads/inclusion.ts";
import type { SqlSession } from "../../platform/database/sql-session.ts";
import { cosignaturesOf, newestWitnessedSize } from "../../log/witnesses/witnessed-head.ts";
import type { StoredReceipt } from "./queries.ts";
import { envelopeOf } from "./serialize.ts";

/**
 * A receipt with its inclusion proof in the newest head of its log that a witness cosigned, with
 * the cosignatures. As long as no witness saw the receipt, in the newest head that exists.
 */
export async function readBundle(
  session: SqlSession,
  signer: CheckpointSigner,
  receipt: StoredReceipt,
): Promise<ReceiptBundle> {
  const head = await readNewestCheckpoint(session, signer, receipt.org_id);
  const witnessed = await newestWitnessedSize(session, receipt.org_id, receipt.log_index);
  const size = witnessed ?? head.size;
  const inclusion = await readInclusion(session, signer, {
    orgId: receipt.org_id,
    logIndex: receipt.log_index,
    treeSize: size,
  });
  const { leaf, hashes, logIndex, origin, treeSize } = inclusion;
  // The newest head is available in its hourly form, which has a line about the time.
  const checkpoint = size === head.size ? head.checkpoint : inclusion.checkpoint;
  const cosignatures = await cosignaturesOf(session, receipt.org_id, size);
  const generations = await readBeginnings(session, signer, receipt.org_id, origin);
  return {
    envelope: envelopeOf(receipt),
    public_key: receipt.public_key.toString("base64"),
    leaf: parseLeaf(leaf),
    inclusion_proof: { log_index: logIndex, tree_size: treeSize, hashes: hashes.map(toHex) },
    checkpoint: checkpoint + cosignatures.join(""),
    log: { origin, verifier_key: formatVerifierKey(logVerifier(signer.identity, origin)) },
    ...(generations.length === 0 ? {} : { generations }),
  };
}

/**
 * The envelope and its key, for cosign and others (sigstore bundle v0.3, protobuf-specs
 * bundle.proto). Our log's proof is not in it: the format only knows Rekor's.
 */
export function sigstoreBundle({ envelope }: ReceiptBundle): object {
  const { payload, payloadType, signatures } = envelope;
  return {
    mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
    verificationMaterial: { publicKey: { hint: signatures[0]?.keyid ?? "" }, tlogEntries: [] },
    dsseEnvelope: {
      payload: standardBase64(payload),
      payloadType,
      signatures: signatures.map(({ sig, keyid }) => ({ sig: standardBase64(sig), keyid: keyid ?? "" })),
    },
  };
}

/** C2SP tlog-proof of the leaf. */
export function tlogProofFile({ inclusion_proof, checkpoint }: ReceiptBundle): string {
  return formatTlogProof({
    index: BigInt(inclusion_proof.log_index),
    hashes: inclusion_proof.hashes.map(hashFromHex),
    checkpoint,
  });
}

/**
 * Agents may send either alphabet. Tools that read protobuf's JSON mapping accept both too, but not
 * all of them do.
 */
function standardBase64(text: string): string {
  return text.replaceAll("-", "+").replaceAll("_", "/");
}
