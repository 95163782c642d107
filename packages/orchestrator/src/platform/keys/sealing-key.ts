import { createHmac } from "node:crypto";
import { createSealer, type Sealer } from "../http/sealer.ts";

/** The key that seals what is secret in the database, wherever it is. */
export interface SealingKey {
  sealer: Sealer;
  /** Tells whether it is the key of before, without telling anything about it. */
  check: string;
}

/** A key that this process holds: 32 bytes. */
export function heldSealingKey(key: Buffer): SealingKey {
  return {
    sealer: createSealer(key),
    check: createHmac("sha256", key).update("attestore sealing key check").digest("hex"),
  };
}
