import { createHmac } from "node:crypto";

/**
 * What of a table's content is signed: HMAC-SHA-256, its first half in hex, over the JSON array of
 * what names the table and the digest of its rows. The key is the backup's own, so that whoever
 * reads a receipt can try no guesses.
 */
export function contentTag(key: Buffer, of: readonly unknown[]): string {
  return createHmac("sha256", key).update(JSON.stringify(of)).digest("hex").slice(0, 32);
}
