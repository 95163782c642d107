import type { InstallationState } from "../features/installation/installation.ts";
import type { Head, SignedHeadStore } from "../log/checkpoints/checkpoint-signer.ts";
import type { ConnectionSettings } from "../platform/database/connection-settings.ts";
import type { Places } from "../platform/workers/places.ts";
import type { Turns } from "../platform/workers/turns.ts";

/**
 * The parts that a process which answers requests gets from the one that owns the data directory,
 * which may be the same.
 */
export interface WorkerParts {
  /** As the role that the service works as. */
  connection: ConnectionSettings;
  signed: SignedHeadStore;
  turns: Turns;
  places: Places;
  /** This one runs what exists once: jobs, hourly checkpoints, mails, the marker. */
  leads: boolean;
  /** No other worker of the data directory has started yet: what looks unfinished is unfinished. */
  isFirst: boolean;
  /** Its number from 1, and how many there are; null if it is the only one. */
  numbered: { worker: number; of: number } | null;
  /** Heads that other workers have signed. */
  followHeads?: (learn: (heads: readonly Head[]) => void) => void;
  /** From the worker that leads, to the others. */
  tellState?: (state: InstallationState) => void;
  followState?: (learn: (state: InstallationState) => void) => void;
  /** The metrics of every worker, in Prometheus' text format. */
  gatherMetrics?: () => Promise<readonly string[]>;
}
