import { toHex } from "../hex.ts";

/** SEC 2 section 2.4.2, secp256r1: y^2 = x^3 - 3x + b over the field of p. */
const P = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
/** The order of the curve's group. */
export const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/**
 * Whether 65 bytes are an uncompressed point of the curve (its coordinates reduced, and not the
 * point at infinity).
 */
export function isOnP256(point: Uint8Array): boolean {
  if (point.length !== 65 || point[0] !== 0x04) return false;
  const x = toBigInt(point.subarray(1, 33));
  const y = toBigInt(point.subarray(33));
  return x < P && y < P && (y * y - (x * x * x - 3n * x + B)) % P === 0n;
}

/** Big-endian bytes as a number. */
export function toBigInt(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes) || "0"}`);
}
