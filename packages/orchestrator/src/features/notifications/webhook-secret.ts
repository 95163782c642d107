import { createHmac, randomBytes } from "node:crypto";
import type { Sealer } from "../../platform/http/sealer.ts";

const PREFIX = "whsec_";

/** The secret of a webhook, as Standard Webhooks writes it, and sealed for the database. It is shown once and is nowhere else. */
export function newSecret(sealer: Sealer, channelId: string): { secret: string; sealed: Buffer } {
  const key = randomBytes(32);
  return { secret: `${PREFIX}${key.toString("base64")}`, sealed: sealer.seal(key, purpose(channelId)) };
}

export interface SignedMessage {
  id: string;
  /** Of this attempt, in seconds since 1970. */
  timestamp: number;
  body: string;
}

/**
 * `webhook-signature` (Standard Webhooks 1.0.0, "signature scheme"): a `v1` HMAC-SHA256 over id, timestamp and body for each of the
 * secrets, so that a receiver may change from one to the other.
 */
export function signatureHeader(
  sealer: Sealer,
  channelId: string,
  sealedSecrets: readonly Buffer[],
  { id, timestamp, body }: SignedMessage,
): string {
  return sealedSecrets
    .map((sealed) => {
      const key = sealer.open(sealed, purpose(channelId));
      return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
    })
    .join(" ");
}

const purpose = (channelId: string): string => `webhook secret of ${channelId}`;
