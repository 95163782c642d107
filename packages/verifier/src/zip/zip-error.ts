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
