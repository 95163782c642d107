import { toBigInt } from "./p256-point.ts";

/**
 * RFC 8032 section 5.1: the field, d of -x^2 + y^2 = 1 + d x^2 y^2, and the order of the base
 * point.
 */
const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/**
 * y of the points whose order divides 8: 0 (order 4), 1 and -1 (orders 1 and 2), and the two of
 * order 8. With such a key one signature fits many messages, so it proves nothing. Libraries
 * disagree about such a point as the R of a signature. The list includes the two points with x = 0,
 * the only other points with two spellings (by the sign bit).
 */
const SMALL_ORDER_Y = new Set([
  0n,
  1n,
  P - 1n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
]);

/** Whether 32 bytes encode a point of small order, or encode a point with an unreduced y. */
export function isWeakEd25519(bytes: Uint8Array): boolean {
  const y = yOf(bytes);
  return y >= P || SMALL_ORDER_Y.has(y);
}

const MAX_KNOWN = 1024;
/**
 * Cached: the same few keys arrive with thousands of receipts, and a power in this field takes
 * longer than verifying a signature.
 */
const knownPoints = new Set<bigint>();

/**
 * Whether 32 bytes encode a point of the curve (RFC 8032 section 5.1.3). Half of all 32-byte
 * strings do not, and libraries handle such keys differently.
 */
export function isEd25519Point(bytes: Uint8Array): boolean {
  const y = yOf(bytes);
  if (bytes.length !== 32 || y >= P) return false;
  if (knownPoints.has(y)) return true;
  const ySquared = (y * y) % P;
  // x^2 = u / v, and u/v is a square exactly if u*v is (Euler's criterion).
  const product = (((ySquared - 1n + P) % P) * ((D * ySquared + 1n) % P)) % P;
  if (product !== 0n && power(product, (P - 1n) / 2n) !== 1n) return false;
  if (knownPoints.size >= MAX_KNOWN) knownPoints.clear();
  knownPoints.add(y);
  return true;
}

/**
 * Whether 64 bytes are a signature in its one spelling with a strong R: R is reduced and not of
 * small order, and S is below the order. R need not be checked to be on the curve: verification
 * compares it with a computed point.
 */
export function isStrictEd25519Signature(signature: Uint8Array): boolean {
  if (signature.length !== 64 || isWeakEd25519(signature.subarray(0, 32))) return false;
  return toBigInt(signature.slice(32).reverse()) < ORDER;
}

function yOf(bytes: Uint8Array): bigint {
  return BigInt.asUintN(255, toBigInt(bytes.toReversed()));
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base;
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}
