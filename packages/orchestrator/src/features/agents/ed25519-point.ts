/** RFC 8032 section 5.1: the field, and d of -x^2 + y^2 = 1 + d x^2 y^2. */
const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/**
 * Whether 32 bytes encode a point of the curve (RFC 8032 section 5.1.3): half of all strings of 32 bytes don't, and under
 * such a key no signature ever verifies.
 */
export function isEd25519Point(bytes: Uint8Array): boolean {
  const y = BigInt.asUintN(
    255,
    bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n),
  );
  if (bytes.length !== 32 || y >= P) return false;
  const ySquared = (y * y) % P;
  // x^2 = u / v, and u/v is a square exactly where u*v is (Euler's criterion).
  const product = (((ySquared - 1n + P) % P) * ((D * ySquared + 1n) % P)) % P;
  return product === 0n || power(product, (P - 1n) / 2n) === 1n;
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
