import type { ConnectionReference } from "../config/source-fields.ts";

/** A database of a running server, which somebody wants a backup restored into. */
export interface TargetRequest {
  /** How to reach the server, as `connection` of a source says it. */
  readonly connection: ConnectionReference;
  /** Made if it does not exist. */
  readonly database: string;
  /** Whether it may have something in it. What is there is never replaced. */
  readonly mayHaveContent: boolean;
}

/** Such a database, found fit. Nothing was written yet. */
export interface Target {
  /** `the new database shop (PostgreSQL 15.20)` */
  readonly described: string;
  /** What a person should know before the restore. */
  readonly warnings: readonly string[];
  /** What to do after it. */
  readonly afterwards: readonly string[];
  /** What a load that stopped may have left, and what to do about it; null if nothing. */
  readonly leavesPart: string | null;
  /**
   * Makes the database if it is new, and loads a whole dump. Errors from the content pass through.
   * @throws UserError target_unusable if the server or the program refuses the dump: the message
   * has their own words, which may quote data, so it is only for a person at this host. RunError.
   * Where `leavesPart` is null it may be called again after an error of the content.
   */
  load(content: AsyncIterable<Buffer>): Promise<void>;
  /**
   * After a load that failed: removes a database that it made, if it is empty and nobody else uses
   * it. What is left all the same, for people; null if nothing is, or if `leavesPart` says it.
   */
  discard(): Promise<string | null>;
  /** Callers must always call it. */
  close(): Promise<void>;
}

/** A name that no server and no program takes for something else. */
export function isDatabaseName(name: string): boolean {
  return /^[\p{L}\p{N}_$ .-]{1,63}$/u.test(name) && name.trim() === name && !name.startsWith("-");
}
