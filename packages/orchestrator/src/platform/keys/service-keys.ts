import { createHmac } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { join } from "node:path";
import { makeDirectory } from "../files/durable-write.ts";
import { loadSecret, loadSigningKey } from "./key-files.ts";
import type { IfMissing } from "./key-files.ts";

/** What the service keeps in `keys/`, made on the first start. */
export interface ServiceKeys {
  /** Ed25519: one signs checkpoints, the other cosigns the hourly ones for their time. */
  log: { note: KeyObject; time: KeyObject };
  /** AES-256-GCM key for answers that hold secrets. */
  sealing: Buffer;
  /** HMAC key of the disk store's URLs. */
  objectUrls: Buffer;
}

export async function loadServiceKeys(directory: string, ifMissing: IfMissing): Promise<ServiceKeys> {
  await makeDirectory(directory);
  return {
    log: {
      note: await loadSigningKey(join(directory, "log-signing.pem"), ifMissing),
      time: await loadSigningKey(join(directory, "log-cosigning.pem"), ifMissing),
    },
    sealing: await loadSecret(join(directory, "sealing.key"), ifMissing),
    // Its URLs live minutes: a new one harms nobody.
    objectUrls: await loadSecret(join(directory, "object-urls.key"), "create"),
  };
}

/** Tells whether a sealing key is the one of before, without telling anything about it. */
export function sealingKeyCheck(key: Buffer): string {
  return createHmac("sha256", key).update("attestore sealing key check").digest("hex");
}
