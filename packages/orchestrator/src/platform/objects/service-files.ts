/**
 * Files that the service itself writes beside the objects, and reads in parts. They are in no list
 * of objects, and nothing removes them.
 */
export interface ServiceFiles {
  /** Replaces an earlier file. Durable when it resolves. */
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** `length` bytes from `start` on; null if there is no file, or it ends before. */
  read(name: string, range: ByteRange): Promise<Buffer | null>;
}

export interface ByteRange {
  start: number;
  length: number;
}
