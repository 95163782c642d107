import { openNote, type VerifiedSignature } from "../notes/open-note.ts";
import type { NoteVerifier } from "../notes/verifier-key.ts";
import { ProofError } from "../proof-error.ts";
import type { ReceiptBundle } from "./bundle.ts";
import { failed, held, notChecked, type ReceiptCheck } from "./check.ts";

/**
 * Who of these witnesses says to have seen this checkpoint (C2SP tlog-cosignature). One that says nothing contradicts nothing: with
 * fewer than `required` the question stays open. Throws `malformed_key` for a key that is no witness's.
 */
export async function checkCosignatures(
  { checkpoint }: ReceiptBundle,
  witnesses: readonly NoteVerifier[],
  required: number,
): Promise<ReceiptCheck> {
  requireWitnesses(witnesses);
  let verified: readonly VerifiedSignature[];
  try {
    ({ verified } = await openNote(checkpoint, witnesses));
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    if (error.code !== "note_signature_missing") return failed("cosignatures", error.message);
    verified = [];
  }
  // One witness is one, however often its line stands there.
  const seen = new Map(verified.map((signature) => [signature.verifier, signature]));
  const said = [...seen.values()].map(
    ({ verifier, timestamp_s = 0 }) => `${verifier.name} at ${utc(timestamp_s)}`,
  );
  const silent = witnesses.filter((witness) => !seen.has(witness)).map(({ name }) => name);
  const who = [
    ...(said.length === 0 ? [] : [`cosigned by ${said.join(", ")}`]),
    ...(silent.length === 0 ? [] : [`no cosignature of ${silent.join(", ")}`]),
  ].join("; ");
  return seen.size >= required && seen.size > 0
    ? held("cosignatures", who)
    : notChecked("cosignatures", `${who || "no witness's key was given"}; ${Math.max(1, required)} needed`);
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
