import type { NoteVerifier } from "@attestore/proof";

/** The log that a pack is about, as its checkpoint has it. */
export interface PackLog {
  /** The one given, or else the one that the pack brings. */
  key: NoteVerifier;
  timeKey: NoteVerifier | null;
  checkpoint: string;
  size: number;
  rootHash: Uint8Array;
  /**
   * Who of the agents whose keys were given cosigned the checkpoint, and of the witnesses that were
   * asked for.
   */
  witnesses: { name: string; at: string }[];
}
