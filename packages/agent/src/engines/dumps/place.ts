import type { RunContext } from "../../sandboxes/run-context.ts";

/** A dump, as its place lists it. */
export interface FoundDump {
  /** Below the directory, or below the bucket's prefix. */
  readonly path: string;
  readonly size: number;
  readonly modified_ms: number;
  /** Another one whenever the bytes may be others: by inode and time, or an object's ETag. */
  readonly state: string;
}

/** A dump on this host: the file itself, or a copy of an object. */
export interface LocalDump {
  readonly path: string;
  /** Of a copy; a file itself is let go. */
  remove(): Promise<void>;
}

/** Where others put their dumps. It is only ever read. */
export interface DumpsPlace {
  /** For messages. */
  readonly where: string;
  /**
   * What matches, expression by expression for each part of the path. @throws RunError
   * `source_missing`, `connection_failed`
   */
  list(parts: readonly RegExp[], signal: AbortSignal): Promise<readonly FoundDump[]>;
  /** The dump's `state` by now; null if it is gone. */
  stateOf(path: string, signal: AbortSignal): Promise<string | null>;
  /** @throws RunError `ciphertext_unavailable`, `disk_full` */
  fetch(dump: Pick<FoundDump, "path" | "size">, context: RunContext): Promise<LocalDump>;
  close(): void;
}
