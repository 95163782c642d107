import { randomBytes } from "node:crypto";

/** The shapes of the contract's section 1, written down a second time on purpose. */

const TYPEID = "[0-7][0-9a-hjkmnp-tv-z]{25}";

export const idOf = (prefix: string): RegExp => new RegExp(`^${prefix}_${TYPEID}$`);

export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const SHA256 = /^[0-9a-f]{64}$/;
export const AGENT_TOKEN = /^ats_[A-Za-z0-9_-]{43}$/;
export const AUTH_KEY = /^atk_[A-Za-z0-9]{10}_[A-Za-z0-9_-]{32}$/;
export const POLL_TOKEN = /^atp_[A-Za-z0-9_-]{43}$/;
export const CODE = /^[A-HJKMNP-TV-Z2-9]{4}-[A-HJKMNP-TV-Z2-9]{4}$/;

/** An id of the right shape that nothing has: a TypeID of a fresh UUIDv7. */
export function unknownId(prefix: string): string {
  const uuid = randomBytes(16);
  uuid.writeUIntBE(Date.now(), 0, 6);
  uuid[6] = 0x70 | ((uuid[6] ?? 0) & 0x0f);
  uuid[8] = 0x80 | ((uuid[8] ?? 0) & 0x3f);
  let value = BigInt(`0x${uuid.toString("hex")}`);
  let text = "";
  for (let i = 0; i < 26; i++) {
    text = "0123456789abcdefghjkmnpqrstvwxyz".charAt(Number(value & 31n)) + text;
    value >>= 5n;
  }
  return `${prefix}_${text}`;
}
