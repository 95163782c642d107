import { createHmac } from "node:crypto";
import { createSealer, type Sealer } from "../http/sealer.ts";

/** The key that seals secrets in the database, wherever it is. */
export interface SealingKey {
  sealer: Sealer;
  /** Shows whether it is the same key as before, without revealing anything about it. */
  check: string;
}

/** A key that this process holds: 32 bytes. */
export function heldSealingKey(key: Buffer): SealingKey {
  return {
    sealer: createSealer(key),
    check: createHmac("sha256", key).update("attestore sealing key check").digest("hex"),
  };
}
