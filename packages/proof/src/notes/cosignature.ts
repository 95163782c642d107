import { concatBytes, utf8 } from "../bytes.ts";
import { ProofError } from "../proof-error.ts";
import { noteSignatureLine } from "./note.ts";

/**
 * Returns the bytes to sign for an Ed25519 cosignature (C2SP tlog-cosignature). `checkpointText` is
 * the note's text; `timestamp_s` is POSIX time.
 */
export function cosignatureMessage(timestamp_s: number, checkpointText: string): Uint8Array {
  requireTimestamp(timestamp_s);
  return utf8(`cosignature/v1\ntime ${timestamp_s}\n${checkpointText}`);
}

/**
 * Formats the signature line of a cosignature. `signature` is the 64 bytes over cosignatureMessage
 * with the same timestamp.
 */
export function cosignatureLine(
  key: { name: string; keyId: number },
  timestamp_s: number,
  signature: Uint8Array,
): string {
  requireTimestamp(timestamp_s);
  const time = new Uint8Array(8);
  new DataView(time.buffer).setBigUint64(0, BigInt(timestamp_s));
  return noteSignatureLine(key, concatBytes(time, signature));
}

/**
 * Parses a `timestamped_signature` structure. Throws `malformed_cosignature`, also for a time after
 * 2^53 - 1.
 */
export function parseCosignature(bytes: Uint8Array): { timestamp_s: number; signature: Uint8Array } {
  if (bytes.length !== 72) throw new ProofError("malformed_cosignature", "a cosignature/v1 has 72 bytes");
  const timestamp_s = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0));
  requireTimestamp(timestamp_s);
  return { timestamp_s, signature: bytes.slice(8) };
}

function requireTimestamp(timestamp_s: number): void {
  if (!Number.isSafeInteger(timestamp_s) || timestamp_s < 0)
    throw new ProofError("malformed_cosignature", `${timestamp_s} is not a POSIX time in seconds`);
}
