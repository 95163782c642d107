import { createHmac, randomBytes } from "node:crypto";
import type { Sealer } from "../../../platform/http/sealer.ts";

const PREFIX = "whsec_";

/**
 * The secret of a webhook, as Standard Webhooks writes it, and sealed for the database. It is shown
 * once and is nowhere else.
 */
export async function newSecret(
  sealer: Sealer,
  channelId: string,
): Promise<{ secret: string; sealed: Buffer }> {
  const key = randomBytes(32);
  return {
    secret: `${PREFIX}${key.toString("base64")}`,
    sealed: await sealer.seal(key, secretPurpose(channelId)),
  };
}

export interface SignedMessage {
  id: string;
  /** Of this attempt, in seconds since 1970. */
  timestamp: number;
  body: string;
}

/**
 * `webhook-signature` (Standard Webhooks 1.0.0, "signature scheme"): a `v1` HMAC-SHA256 over id,
 * timestamp and body for each of the secrets, so that a receiver may change from one to the other.
 */
export async function signatureHeader(
  sealer: Sealer,
  channelId: string,
  sealedSecrets: readonly Buffer[],
  { id, timestamp, body }: SignedMessage,
): Promise<string> {
  const signatures = sealedSecrets.map(async (sealed) => {
    const key = await sealer.open(sealed, secretPurpose(channelId));
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return (await Promise.all(signatures)).join(" ");
}

/** Binds a sealed secret to its channel. */
export const secretPurpose = (channelId: string): string => `webhook secret of ${channelId}`;
