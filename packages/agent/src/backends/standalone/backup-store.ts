import type { TransferOptions } from "../backup-backend.ts";

export interface StoredObject {
  /** Such as `orders/bkp_….age`. */
  readonly key: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

/**
 * Where the ciphertexts of a standalone root lie. What goes wrong is a ServiceError or an error of
 * the file system.
 */
export interface BackupStore {
  /** For people. */
  readonly where: string;
  /**
   * Stores a file; when this resolves it is durable there. Repeatable: the same key always holds
   * the same bytes, and a put that a crash cut off is taken up, or made again.
   */
  put(object: StoredObject, file: string, options: TransferOptions): Promise<void>;
  /**
   * Writes what the store really holds into a file. @throws ServiceError, RunError if it is not
   * there
   */
  get(object: StoredObject, file: string, options: TransferOptions): Promise<void>;
  /** Removes an object for good; that it is gone already is no error. */
  remove(object: StoredObject, signal: AbortSignal): Promise<void>;
  /**
   * Whether it can be reached and written, as far as that shows without writing. @throws
   * ServiceError, RunError
   */
  examine(signal: AbortSignal): Promise<void>;
  close(): void;
}
