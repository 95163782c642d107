import { toBigInt } from "./p256-point.ts";

const P = 2n ** 255n - 19n;

/**
 * y of the points whose order divides 8: 0 (order 4), 1 and -1 (orders 1 and 2), and the two of order 8. Under such a
 * key one signature fits many messages, so it proves nothing about any.
 */
const SMALL_ORDER_Y = new Set([
  0n,
  1n,
  P - 1n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
]);

/** Whether 32 bytes are the encoding of a point of small order, or not the one encoding of its point (y not reduced). */
export function isWeakEd25519(bytes: Uint8Array): boolean {
  const y = BigInt.asUintN(255, toBigInt(bytes.toReversed()));
  return y >= P || SMALL_ORDER_Y.has(y);
}
