import { toHex } from "../hex.ts";
import { openNote, type VerifiedSignature } from "../notes/open-note.ts";
import type { NoteVerifier } from "../notes/verifier-key.ts";
import { ProofError } from "../proof-error.ts";
import type { ReceiptBundle } from "./bundle.ts";
import { failed, held, notChecked, type ReceiptCheck } from "./check.ts";

/** Which of the requested witnesses cosigned a checkpoint, and when by their own clocks. */
export interface Cosignatures {
  seen: { name: string; at: string }[];
  /** Names of the witnesses without a cosignature. */
  silent: string[];
  /** Why one of their cosignatures is invalid, or null. */
  fault: string | null;
}

/**
 * Returns which of these witnesses cosigned this checkpoint (C2SP tlog-cosignature). A witness
 * counts once, even if its line or key is given several times. Throws `malformed_key` for a key
 * that is not a witness's, or `malformed_note`.
 */
export async function readCosignatures(
  checkpoint: string,
  witnesses: readonly NoteVerifier[],
): Promise<Cosignatures> {
  requireWitnesses(witnesses);
  const asked = [...new Map(witnesses.map((each) => [toHex(each.publicKey), each])).values()];
  let verified: readonly VerifiedSignature[];
  try {
    ({ verified } = await openNote(checkpoint, asked));
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    if (error.code !== "note_signature_missing") return { seen: [], silent: [], fault: error.message };
    verified = [];
  }
  const seen = new Map(verified.map((signature) => [signature.verifier, signature]));
  return {
    seen: [...seen.values()].map(({ verifier, timestamp_s = 0 }) => ({
      name: verifier.name,
      at: utc(timestamp_s),
    })),
    silent: asked.filter((witness) => !seen.has(witness)).map(({ name }) => name),
    fault: null,
  };
}

/**
 * The check that at least `required` of these witnesses, and at least one, cosigned the bundle's
 * checkpoint. A missing cosignature is no contradiction: with fewer, the result is not checked
 * rather than failed. A wrong one fails. Throws what readCosignatures throws.
 */
export async function checkCosignatures(
  { checkpoint }: Pick<ReceiptBundle, "checkpoint">,
  witnesses: readonly NoteVerifier[],
  required: number,
): Promise<ReceiptCheck> {
  const { seen, silent, fault } = await readCosignatures(checkpoint, witnesses);
  if (fault !== null) return failed("cosignatures", fault);
  const who = describeCosignatures({ seen, silent });
  return seen.length >= required && seen.length > 0
    ? held("cosignatures", who)
    : notChecked("cosignatures", `${who || "no witness's key was given"}; ${Math.max(1, required)} needed`);
}

function describeCosignatures({ seen, silent }: Pick<Cosignatures, "seen" | "silent">): string {
  const said = seen.map(({ name, at }) => `${name} at ${at}`);
  return [
    ...(said.length === 0 ? [] : [`cosigned by ${said.join(", ")}`]),
    ...(silent.length === 0 ? [] : [`no cosignature of ${silent.join(", ")}`]),
  ].join("; ");
}

function requireWitnesses(witnesses: readonly NoteVerifier[]): void {
  const other = witnesses.find(({ algorithm }) => algorithm !== "cosignature/v1");
  if (other !== undefined)
    throw new ProofError("malformed_key", `the key of ${other.name} is a log's, not a witness's`);
}

/** Seconds outside the range of a date are shown as a number. */
function utc(timestamp_s: number): string {
  const at = new Date(timestamp_s * 1000);
  return Number.isNaN(at.getTime()) ? `${timestamp_s} s` : at.toISOString().replace(".000Z", "Z");
}
