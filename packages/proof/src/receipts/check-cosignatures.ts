import { toHex } from "../hex.ts";
import { openNote, type VerifiedSignature } from "../notes/open-note.ts";
import type { NoteVerifier } from "../notes/verifier-key.ts";
import { ProofError } from "../proof-error.ts";
import type { ReceiptBundle } from "./bundle.ts";
import { failed, held, notChecked, type ReceiptCheck } from "./check.ts";

/** Who of the witnesses asked for cosigned a checkpoint, and when by their own clocks. */
export interface Cosignatures {
  seen: { name: string; at: string }[];
  /** Names of those that said nothing. */
  silent: string[];
  /** A cosignature of theirs that does not hold. */
  fault: string | null;
}

/**
 * Who of these witnesses says to have seen this checkpoint (C2SP tlog-cosignature). A witness counts once, however often its line or its
 * key is given. Throws `malformed_key` for a key that is no witness's, `malformed_note`.
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

/** One that says nothing contradicts nothing: with fewer than `required` the question stays open. */
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

/** Seconds that no date can show are shown as they are. */
function utc(timestamp_s: number): string {
  const at = new Date(timestamp_s * 1000);
  return Number.isNaN(at.getTime()) ? `${timestamp_s} s` : at.toISOString().replace(".000Z", "Z");
}
