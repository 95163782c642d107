import type { SourceLimits } from "../config/source-limits.ts";
import type { Confinement } from "./bounds/confinement.ts";

export interface RunContext {
  /** Where plaintext may be during the run. */
  readonly scratchDir: string;
  readonly signal: AbortSignal;
  /** For a restore that has limits. */
  readonly confinement?: Confinement;
  /** The backup's own key, which signs what its tables hold. */
  readonly contentKey?: Buffer;
  /** For a dump: the source's key, see definitions-key.ts. */
  readonly definitionsKey?: Buffer;
  /**
   * For a restore: another program made the dump, so nobody has signed what its tables hold. It is
   * read while it is restored.
   */
  readonly readsDump?: boolean;
  /** The source's limits; the built-in ones by default. */
  readonly limits?: SourceLimits;
}
