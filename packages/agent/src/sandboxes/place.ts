import type { Child, ChildRequest } from "../processes/child.ts";

/** A program to run in a place. As whom it runs, the place decides. */
export interface PlaceProgram extends Omit<ChildRequest, "user"> {
  /** For a server: when this process dies, however, it does too. */
  readonly diesWithUs?: boolean;
  /** See `ProgramRequest`. */
  readonly isFed?: boolean;
}

/**
 * Where an engine's programs run for the time of one restore test: as processes of this host, or in a container. They see
 * the paths below; whoever uses a place need not know which kind it is.
 */
export interface Place {
  readonly kind: "process" | "container";
  /** Absolute, empty at first, for plaintext; only those programs get at it. */
  readonly home: string;
  /** The same for unix sockets, whose paths have to be short. */
  readonly sockets: string;
  /** @throws CouldNotRun `tool_missing`, `sandbox_failed`, `interrupted` */
  start(program: PlaceProgram): Promise<Child>;
  /** Stops everything that was started here and removes it. Repeats are harmless. */
  close(): Promise<void>;
}
