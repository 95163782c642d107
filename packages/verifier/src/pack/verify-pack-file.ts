import { open, stat } from "node:fs/promises";
import { openFileSource } from "../zip/file-source.ts";
import { type PackEvidence, type PackOutcome, verifyPack } from "./verify-pack.ts";

const MAGIC = Buffer.from("PK\u0003\u0004");

/**
 * Whether a file begins like a ZIP with a file in it. False for what cannot be read, or only once:
 * opening it later gives the reason.
 */
export async function isPack(path: string): Promise<boolean> {
  if (path === "-") return false;
  try {
    // To open a named pipe takes what somebody writes into it from whoever reads it later.
    if (!(await stat(path)).isFile()) return false;
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
      return bytesRead === 4 && buffer.equals(MAGIC);
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
}

/** Verifies a pack on a disk. Throws CannotTell if it cannot be read. */
export async function verifyPackFile(path: string, evidence: PackEvidence): Promise<PackOutcome> {
  return verifyPack(path, await openFileSource(path), evidence);
}
