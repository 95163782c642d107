/**
 * The number of parts in an object of S3's largest size with the largest parts; all their URLs fit
 * into one answer.
 */
export const MAX_PARTS = 1024;

/** Equal parts and a remainder. */
export function partSizes(sizeBytes: number, partBytes: number): number[] {
  const count = Math.max(1, Math.ceil(sizeBytes / partBytes));
  return Array.from({ length: count }, (_, index) => Math.min(partBytes, sizeBytes - index * partBytes));
}
