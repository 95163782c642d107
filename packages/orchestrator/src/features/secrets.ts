import { randomBytes, randomInt } from "node:crypto";
import { CODE_ALPHABET } from "@attestore/contract";

const PUBLIC_ID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** Contract, section 1. Each is given out once and kept as its SHA-256. */
export const newAgentToken = (): string => `ats_${randomBytes(32).toString("base64url")}`;
export const newSessionToken = (): string => `atss_${randomBytes(32).toString("base64url")}`;
export const newAuditorLinkSecret = (): string => `atl_${randomBytes(32).toString("base64url")}`;
export const newPollToken = (): string => `atp_${randomBytes(32).toString("base64url")}`;

export function newAuthKey(): { publicId: string; secret: string; plaintext: string } {
  const publicId = pick(PUBLIC_ID_ALPHABET, 10);
  const secret = randomBytes(24).toString("base64url");
  return { publicId, secret, plaintext: `atk_${publicId}_${secret}` };
}

export function newCode(): string {
  return `${pick(CODE_ALPHABET, 4)}-${pick(CODE_ALPHABET, 4)}`;
}

export function newRecoveryCode(): string {
  return Array.from({ length: 4 }, () => pick(CODE_ALPHABET, 4)).join("-");
}

function pick(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join("");
}
