import type { TransferOptions } from "../backup-backend.ts";

export interface StoredObject {
  /** Such as `orders/bkp_….age`. */
  readonly key: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

/**
 * Where a standalone root stores its ciphertexts. Throws ServiceError or errors of the file system.
 */
export interface BackupStore {
  /** Its name for people. */
  readonly where: string;
  /**
   * Stores a file, durably when this resolves. Can be repeated: a key always has the same bytes,
   * and a put that a crash cut off is continued or done again.
   */
  put(object: StoredObject, file: string, options: TransferOptions): Promise<void>;
  /** Writes the stored object to a file. @throws ServiceError, RunError if it is missing */
  get(object: StoredObject, file: string, options: TransferOptions): Promise<void>;
  /** Removes an object for good; no error if it is gone already. */
  remove(object: StoredObject, signal: AbortSignal): Promise<void>;
  /**
   * Checks that the store can be reached and written, as far as that shows without writing. @throws
   * ServiceError, RunError
   */
  examine(signal: AbortSignal): Promise<void>;
  close(): void;
}
