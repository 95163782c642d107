import type { RunContext } from "../../sandboxes/run-context.ts";

/** A dump in the listing of its place. */
export interface FoundDump {
  /** The path below the directory, or below the bucket's prefix. */
  readonly path: string;
  readonly size: number;
  readonly modified_ms: number;
  /**
   * Changes whenever the bytes may have changed: made of inode and time, or of an object's ETag.
   */
  readonly state: string;
}

/** A dump on this host: the file itself, or a copy of an object. */
export interface LocalDump {
  readonly path: string;
  /** Removes the copy. A file itself stays. */
  remove(): Promise<void>;
}

/** Where others put their dumps. The agent only reads it. */
export interface DumpsPlace {
  /** For messages. */
  readonly where: string;
  /**
   * Lists what matches; the pattern has one expression for each part of the path.
   * @throws RunError `source_missing`, `connection_failed`
   */
  list(parts: readonly RegExp[], signal: AbortSignal): Promise<readonly FoundDump[]>;
  /** The dump's current `state`; null if it is gone. */
  stateOf(path: string, signal: AbortSignal): Promise<string | null>;
  /** @throws RunError `ciphertext_unavailable`, `disk_full` */
  fetch(dump: Pick<FoundDump, "path" | "size">, context: RunContext): Promise<LocalDump>;
  close(): void;
}
