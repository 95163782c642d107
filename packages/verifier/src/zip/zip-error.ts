/** Why a file is not a ZIP that may contain an evidence pack. */
export class ZipError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ZipError";
  }
}

export function fail(why: string): never {
  throw new ZipError(why);
}

/** Throws ZipError if the number is larger than any file. */
export function number64(bytes: Buffer, at: number): number {
  const value = bytes.readBigUInt64LE(at);
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : fail("a number in it is too large");
}
