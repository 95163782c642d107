/** Why a file is not a ZIP that an evidence pack may come in. */
export class ZipError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ZipError";
  }
}

export function fail(why: string): never {
  throw new ZipError(why);
}

/** Throws ZipError for what no file is large enough for. */
export function number64(bytes: Buffer, at: number): number {
  const value = bytes.readBigUInt64LE(at);
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : fail("a number in it is too large");
}
