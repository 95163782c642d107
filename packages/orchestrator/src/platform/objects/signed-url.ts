import { createHmac, timingSafeEqual } from "node:crypto";

/** What a URL of the disk store permits. GET permits HEAD too. */
export type Permission =
  | { method: "PUT"; key: string; sizeBytes: number; sha256: string; expiresAt: Date }
  | { method: "GET"; key: string; expiresAt: Date };

const VERSION = "attestore-object-url-v1";
const SHA256 = /^[0-9a-f]{64}$/;
const WHOLE_NUMBER = /^(?:0|[1-9][0-9]{0,15})$/;
const SIGNATURE = /^[A-Za-z0-9_-]{43}$/;
const PUT_PARAMETERS = ["expires", "sha256", "signature", "size"];
const GET_PARAMETERS = ["expires", "signature"];

export type SignatureResult =
  | { ok: true; permission: Permission }
  | { ok: false; reason: "invalid" | "expired" };

/** The query of a URL that grants the permission to whoever holds it. */
export function signPermission(permission: Permission, hmacKey: Uint8Array): string {
  const query = new URLSearchParams({ expires: String(epochSeconds(permission.expiresAt)) });
  if (permission.method === "PUT") {
    query.set("size", String(permission.sizeBytes));
    query.set("sha256", permission.sha256);
  }
  query.set("signature", signature(permission, hmacKey));
  return query.toString();
}

/** Reads a request's URL back. Every parameter is under the signature; one too many, too few or twice is invalid. */
export function openPermission(
  method: "PUT" | "GET",
  key: string,
  query: URLSearchParams,
  hmacKey: Uint8Array,
  now: Date,
): SignatureResult {
  const names = [...query.keys()].sort();
  const expected = method === "PUT" ? PUT_PARAMETERS : GET_PARAMETERS;
  const given = query.get("signature") ?? "";
  const expires = query.get("expires") ?? "";
  if (names.join() !== expected.join() || !SIGNATURE.test(given) || !WHOLE_NUMBER.test(expires))
    return { ok: false, reason: "invalid" };
  const expiresAt = new Date(Number(expires) * 1000);
  let permission: Permission = { method: "GET", key, expiresAt };
  if (method === "PUT") {
    const size = query.get("size") ?? "";
    const sha256 = query.get("sha256") ?? "";
    if (!WHOLE_NUMBER.test(size) || !SHA256.test(sha256)) return { ok: false, reason: "invalid" };
    permission = { method, key, expiresAt, sizeBytes: Number(size), sha256 };
  }
  if (!timingSafeEqual(Buffer.from(signature(permission, hmacKey)), Buffer.from(given)))
    return { ok: false, reason: "invalid" };
  if (expiresAt.getTime() <= now.getTime()) return { ok: false, reason: "expired" };
  return { ok: true, permission };
}

/** Lines, because no field can hold a line break: keys are object keys, all else is digits or hex. */
function signature(permission: Permission, hmacKey: Uint8Array): string {
  const bound = permission.method === "PUT" ? [String(permission.sizeBytes), permission.sha256] : ["", ""];
  const lines = [
    VERSION,
    permission.method,
    permission.key,
    ...bound,
    String(epochSeconds(permission.expiresAt)),
  ];
  return createHmac("sha256", hmacKey).update(lines.join("\n")).digest("base64url");
}

function epochSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
