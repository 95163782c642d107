import { P256_ORDER, toBigInt } from "./p256-point.ts";

/**
 * Converts a P-256 signature from DER (SEQUENCE of two INTEGERs) to the 64 bytes r || s that
 * WebCrypto takes. Strict: one encoding per signature, both numbers in 1..n-1, and nothing after
 * them. Returns undefined for anything else.
 */
export function p256SignatureFromDer(der: Uint8Array): Uint8Array | undefined {
  if (der[0] !== 0x30 || der[1] !== der.length - 2 || der.length > 72) return undefined;
  const r = readInteger(der, 2);
  const s = r && readInteger(der, r.end);
  if (!r || !s || s.end !== der.length) return undefined;
  const raw = new Uint8Array(64);
  raw.set(r.bytes, 32 - r.bytes.length);
  raw.set(s.bytes, 64 - s.bytes.length);
  return raw;
}

/** Converts r || s to the DER that p256SignatureFromDer accepts. */
export function p256SignatureToDer(raw: Uint8Array): Uint8Array {
  const body = [...integer(raw.subarray(0, 32)), ...integer(raw.subarray(32))];
  return Uint8Array.of(0x30, body.length, ...body);
}

function integer(bytes: Uint8Array): number[] {
  const first = bytes.findIndex((byte) => byte !== 0);
  const magnitude = [...bytes.subarray(first < 0 ? bytes.length - 1 : first)];
  const positive = (magnitude[0] ?? 0) & 0x80 ? [0, ...magnitude] : magnitude;
  return [0x02, positive.length, ...positive];
}

function readInteger(der: Uint8Array, offset: number): { bytes: Uint8Array; end: number } | undefined {
  const length = der[offset + 1] ?? 0;
  const end = offset + 2 + length;
  if (der[offset] !== 0x02 || length === 0 || length > 33 || end > der.length) return undefined;
  const bytes = der.subarray(offset + 2, end);
  const [first = 0, second = 0] = bytes;
  if (first >= 0x80) return undefined;
  const isPadded = first === 0 && length > 1;
  if (isPadded && second < 0x80) return undefined;
  const magnitude = isPadded ? bytes.subarray(1) : bytes;
  const value = toBigInt(magnitude);
  return value > 0n && value < P256_ORDER ? { bytes: magnitude, end } : undefined;
}
