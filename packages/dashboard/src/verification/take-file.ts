import { toHex } from "@attestore/proof";
import { formatBytes } from "../text/format.ts";
import { verify } from "../text/verify.ts";
import {
  type Evidence,
  EvidenceError,
  MAX_EVIDENCE_SIZE,
  isPack,
  readEvidence,
} from "../verifier/evidence-file.ts";

/** A dropped file, and what it was recognised as. */
export interface TakenFile {
  id: number;
  name: string;
  content:
    | Evidence
    | { kind: "ciphertext"; sha256: string }
    /** Read again whenever it is verified, and never as a whole. */
    | { kind: "pack"; file: File }
    /** Why it cannot be used. */
    | { kind: "refused"; reason: string };
}

/** The browser hashes a whole file in memory. */
const MAX_CIPHERTEXT_SIZE = 512 * 1024 * 1024;
/** A larger one has more leaves and receipts than a page should hold. */
const MAX_PACK_SIZE = 256 * 1024 * 1024;
const AGE_HEADER = "age-encryption.org/v1\n";

let taken = 0;

/** Reads a file in the browser and sends nothing. No content makes it throw. */
export async function takeFile(file: File): Promise<TakenFile> {
  taken += 1;
  return { id: taken, name: file.name, content: await contentOf(file) };
}

async function contentOf(file: File): Promise<TakenFile["content"]> {
  try {
    const start = await file.slice(0, AGE_HEADER.length).text();
    if (start === AGE_HEADER) return await ciphertext(file);
    if (isPack(new Uint8Array(await file.slice(0, 4).arrayBuffer()))) return pack(file);
    if (file.size > MAX_EVIDENCE_SIZE)
      throw new EvidenceError("too_large", `${formatBytes(file.size)}; no receipt or key is that large`);
    return readEvidence(file.name, new Uint8Array(await file.arrayBuffer()));
  } catch (error) {
    if (error instanceof EvidenceError)
      return { kind: "refused", reason: `${verify.error[error.code]}: ${error.message}` };
    // The file was moved or changed after it was chosen, or is not readable.
    if (error instanceof DOMException) return { kind: "refused", reason: verify.unreadable };
    throw error;
  }
}

function pack(file: File): TakenFile["content"] {
  if (file.size > MAX_PACK_SIZE)
    return { kind: "refused", reason: verify.kind.packTooLarge(formatBytes(MAX_PACK_SIZE)) };
  return { kind: "pack", file };
}

async function ciphertext(file: File): Promise<TakenFile["content"]> {
  if (file.size > MAX_CIPHERTEXT_SIZE)
    return { kind: "refused", reason: verify.kind.ciphertextTooLarge(formatBytes(MAX_CIPHERTEXT_SIZE)) };
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return { kind: "ciphertext", sha256: toHex(new Uint8Array(digest)) };
}
