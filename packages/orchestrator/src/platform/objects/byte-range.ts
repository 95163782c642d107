export type ByteRange =
  | { kind: "whole" }
  | { kind: "part"; start: number; end: number }
  | { kind: "unsatisfiable" };

const RANGE = /^bytes=(?:(\d{1,16})-(\d{0,16})|-(\d{1,16}))$/;

/**
 * A single range of RFC 9110, section 14.1.2; `end` is the last byte. Anything else (another unit,
 * several ranges, nonsense) is ignored, as section 14.2 allows: the answer is then the whole
 * object.
 */
export function parseByteRange(header: string | undefined, sizeBytes: number): ByteRange {
  const match = header === undefined ? null : RANGE.exec(header.trim());
  if (match === null) return { kind: "whole" };
  const [, first, last, suffix] = match;
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), sizeBytes);
    return length === 0
      ? { kind: "unsatisfiable" }
      : { kind: "part", start: sizeBytes - length, end: sizeBytes - 1 };
  }
  const start = Number(first);
  const end = last === undefined || last === "" ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (last !== undefined && last !== "" && Number(last) < start) return { kind: "whole" };
  return start >= sizeBytes ? { kind: "unsatisfiable" } : { kind: "part", start, end };
}
