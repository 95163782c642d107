/**
 * As many as an object of S3's largest size has in parts of the largest size; all their URLs go
 * into one answer.
 */
export const MAX_PARTS = 1024;

/** Equal parts and a rest. */
export function partSizes(sizeBytes: number, partBytes: number): number[] {
  const count = Math.max(1, Math.ceil(sizeBytes / partBytes));
  return Array.from({ length: count }, (_, index) => Math.min(partBytes, sizeBytes - index * partBytes));
}
