/**
 * The shapes of the service's bearer secrets. Only the SHA-256 of each is ever stored (contract,
 * section 1).
 *
 * - agent token: `ats_` and base64url of 32 random bytes
 * - session token: `atss_` and the same
 * - poll token: `atp_` and the same
 * - secret of an auditor link: `atl_` and the same
 * - auth key: `atk_`, 10 characters of public id, `_`, base64url of 24 random bytes
 */
export const AGENT_TOKEN = /^ats_[A-Za-z0-9_-]{43}$/;
export const SESSION_TOKEN = /^atss_[A-Za-z0-9_-]{43}$/;
export const POLL_TOKEN = /^atp_[A-Za-z0-9_-]{43}$/;
export const AUDITOR_LINK = /^atl_[A-Za-z0-9_-]{43}$/;
export const AUTH_KEY = /^atk_([0-9a-z]{10})_([A-Za-z0-9_-]{32})$/;

/** The 30 characters of one-time codes: A-Z and 0-9 without 0 O 1 I L U. */
export const CODE_ALPHABET = "ABCDEFGHJKMNPQRSTVWXYZ23456789";

/**
 * A one-time code as `XXXX-XXXX`, or null if it can't be one. Case and the hyphen are ignored,
 * because people type these.
 */
export function normalizeCode(typed: string): string | null {
  const bare = typed.replace("-", "").toUpperCase();
  if (bare.length !== 8) return null;
  for (const character of bare) if (!CODE_ALPHABET.includes(character)) return null;
  return `${bare.slice(0, 4)}-${bare.slice(4)}`;
}

/**
 * A recovery code as `XXXX-XXXX-XXXX-XXXX`, or null if it can't be one. Case, hyphens and white
 * space are ignored.
 */
export function normalizeRecoveryCode(typed: string): string | null {
  const bare = typed.replaceAll(/[-\s]/g, "").toUpperCase();
  if (bare.length !== 16) return null;
  for (const character of bare) if (!CODE_ALPHABET.includes(character)) return null;
  return bare.replaceAll(/(.{4})(?=.)/g, "$1-");
}
