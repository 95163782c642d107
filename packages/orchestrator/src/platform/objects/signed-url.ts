import { createHmac, timingSafeEqual } from "node:crypto";

/** What a URL of the disk store permits. GET also permits HEAD. */
export type Permission = PutPermission | PartPermission | { method: "GET"; key: string; expiresAt: Date };

export interface PutPermission {
  method: "PUT";
  key: string;
  sizeBytes: number;
  sha256: string;
  expiresAt: Date;
}

/** A PUT of one part of an upload. */
export interface PartPermission {
  method: "PUT";
  key: string;
  uploadId: string;
  /** From 1. */
  partNumber: number;
  sizeBytes: number;
  expiresAt: Date;
}

const VERSION = "attestore-object-url-v1";
const SHA256 = /^[0-9a-f]{64}$/;
const WHOLE_NUMBER = /^(?:0|[1-9][0-9]{0,15})$/;
const UPLOAD_ID = /^[0-9a-f]{32}$/;
const SIGNATURE = /^[A-Za-z0-9_-]{43}$/;
const PUT_PARAMETERS = ["expires", "sha256", "signature", "size"];
const PART_PARAMETERS = ["expires", "part", "signature", "size", "upload"];
const GET_PARAMETERS = ["expires", "signature"];

export type SignatureResult =
  | { ok: true; permission: Permission }
  | { ok: false; reason: "invalid" | "expired" };

/** The query of a URL that grants the permission to anybody who has it. */
export function signPermission(permission: Permission, hmacKey: Uint8Array): string {
  const query = new URLSearchParams({ expires: String(epochSeconds(permission.expiresAt)) });
  if (permission.method === "PUT") query.set("size", String(permission.sizeBytes));
  if ("sha256" in permission) query.set("sha256", permission.sha256);
  if ("uploadId" in permission) {
    query.set("upload", permission.uploadId);
    query.set("part", String(permission.partNumber));
  }
  query.set("signature", signature(permission, hmacKey));
  return query.toString();
}

/**
 * Reads a request's URL back. The signature covers every parameter; an extra, missing or repeated
 * one is invalid.
 */
export function openPermission(
  method: "PUT" | "GET",
  key: string,
  query: URLSearchParams,
  hmacKey: Uint8Array,
  now: Date,
): SignatureResult {
  const names = [...query.keys()].sort().join();
  const given = query.get("signature") ?? "";
  const expires = query.get("expires") ?? "";
  if (!SIGNATURE.test(given) || !WHOLE_NUMBER.test(expires)) return { ok: false, reason: "invalid" };
  const expiresAt = new Date(Number(expires) * 1000);
  const permission = method === "GET" ? named(names, key, expiresAt) : put(names, query, key, expiresAt);
  if (permission === null) return { ok: false, reason: "invalid" };
  if (!timingSafeEqual(Buffer.from(signature(permission, hmacKey)), Buffer.from(given)))
    return { ok: false, reason: "invalid" };
  if (expiresAt.getTime() <= now.getTime()) return { ok: false, reason: "expired" };
  return { ok: true, permission };
}

function named(names: string, key: string, expiresAt: Date): Permission | null {
  return names === GET_PARAMETERS.join() ? { method: "GET", key, expiresAt } : null;
}

function put(names: string, query: URLSearchParams, key: string, expiresAt: Date): Permission | null {
  const text = (name: string): string => query.get(name) ?? "";
  const [size, sha256, uploadId, part] = [text("size"), text("sha256"), text("upload"), text("part")];
  if (!WHOLE_NUMBER.test(size)) return null;
  const sizeBytes = Number(size);
  if (names === PUT_PARAMETERS.join() && SHA256.test(sha256))
    return { method: "PUT", key, expiresAt, sizeBytes, sha256 };
  if (names === PART_PARAMETERS.join() && UPLOAD_ID.test(uploadId) && WHOLE_NUMBER.test(part))
    return { method: "PUT", key, expiresAt, sizeBytes, uploadId, partNumber: Number(part) };
  return null;
}

/**
 * Lines, because no field can contain a line break: keys are object keys, everything else is digits
 * or hex.
 */
function signature(permission: Permission, hmacKey: Uint8Array): string {
  const lines = [
    VERSION,
    permission.method,
    permission.key,
    ...bound(permission),
    String(epochSeconds(permission.expiresAt)),
  ];
  return createHmac("sha256", hmacKey).update(lines.join("\n")).digest("base64url");
}

function bound(permission: Permission): string[] {
  if (permission.method === "GET") return ["", ""];
  if ("sha256" in permission) return [String(permission.sizeBytes), permission.sha256];
  return [String(permission.sizeBytes), permission.uploadId, String(permission.partNumber)];
}

/** When a URL that is signed now expires; URLs have whole seconds. */
export function expiryAfter(seconds: number): Date {
  return new Date((epochSeconds(new Date()) + seconds) * 1000);
}

function epochSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
