export type Phase = "dump" | "download" | "decrypt" | "restore" | "checks";

/**
 * How far a run has come within a phase, in bytes of the dump (`dump`, `restore`) or the ciphertext
 * (the others).
 */
export interface Progress {
  readonly phase: Phase;
  readonly bytes: number;
  readonly totalBytes?: number;
}

export type OnProgress = (progress: Progress) => void;
