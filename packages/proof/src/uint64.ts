const MAX_UINT64 = 2n ** 64n - 1n;

/**
 * Parses an unsigned 64-bit number in ASCII decimal without leading zeroes. Returns undefined for
 * any other text.
 */
export function parseUint64(text: string): bigint | undefined {
  if (!/^(?:0|[1-9][0-9]{0,19})$/.test(text)) return undefined;
  const value = BigInt(text);
  return value <= MAX_UINT64 ? value : undefined;
}
