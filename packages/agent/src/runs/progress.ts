export type Phase = "dump" | "download" | "decrypt" | "restore" | "checks";

/**
 * How far a run has come within a phase: in bytes of the dump (`dump`, `restore`) or the ciphertext
 * (`download`, `decrypt`), or in checks that are done (`checks`).
 */
export interface Progress {
  readonly phase: Phase;
  readonly bytes: number;
  readonly totalBytes?: number;
}

export type OnProgress = (progress: Progress) => void;
