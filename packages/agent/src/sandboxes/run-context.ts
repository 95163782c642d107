import type { SourceLimits } from "../config/source-limits.ts";
import type { Confinement } from "./bounds/confinement.ts";

export interface RunContext {
  /** Where plaintext may lie for as long as the run lasts. */
  readonly scratchDir: string;
  readonly signal: AbortSignal;
  /** Of a restore that is held to limits. */
  readonly confinement?: Confinement;
  /** Of a dump: the backup's own key, under which what its tables hold is signed. */
  readonly contentKey?: Buffer;
  /** The source's; the built-in ones unless told. */
  readonly limits?: SourceLimits;
}
