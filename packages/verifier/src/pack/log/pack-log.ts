import type { NoteVerifier } from "@attestore/proof";
import type { CheckedGenerations } from "./check-generations.ts";

/** The log that a pack is about, according to its checkpoint. */
export interface PackLog {
  /** The given key, or else the one in the pack, under the name of the checkpoint's generation. */
  key: NoteVerifier;
  generations: CheckedGenerations;
  timeKey: NoteVerifier | null;
  checkpoint: string;
  size: number;
  rootHash: Uint8Array;
  /**
   * The requested witnesses that cosigned the checkpoint, and the agents with given keys that did.
   */
  witnesses: { name: string; at: string }[];
}
