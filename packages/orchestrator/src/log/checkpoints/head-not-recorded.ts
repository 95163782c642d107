/** A head could not be recorded before signing, so it is not signed. */
export class HeadNotRecorded extends Error {
  constructor(cause: unknown) {
    super("the head could not be written down", { cause });
    this.name = "HeadNotRecorded";
  }
}
