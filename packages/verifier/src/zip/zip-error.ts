/** Why a file is not a ZIP as evidence packs are. */
export class ZipError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ZipError";
  }
}
