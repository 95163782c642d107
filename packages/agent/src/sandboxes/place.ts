import type { Child, ChildRequest } from "../processes/child.ts";

/** A program to run in a place. As whom it runs, the place decides. */
export interface PlaceProgram extends Omit<ChildRequest, "user"> {
  /** For a server: when this process dies, however, it does too. */
  readonly diesWithUs?: boolean;
  /** See `ProgramRequest`. */
  readonly isFed?: boolean;
}

/**
 * Where an engine's programs run for the time of one restore test: as processes of this host, or in
 * a container. They see the paths below; whoever uses a place need not know which kind it is.
 */
export interface Place {
  /** `isolated`: processes of this host that see little of it, see `openIsolatedPlace`. */
  readonly kind: "process" | "container" | "isolated";
  /** Absolute, empty at first, for plaintext; only those programs get at it. */
  readonly home: string;
  /** The same for unix sockets, whose paths have to be short. */
  readonly sockets: string;
  /**
   * How our own program is started in there, before the name of what it is to do. Empty where it is
   * not.
   */
  readonly self: readonly string[];
  /** What `home` is called out here; null where we do not see it. */
  readonly shared: string | null;
  /** @throws RunError `tool_missing`, `sandbox_failed`, `interrupted` */
  start(program: PlaceProgram): Promise<Child>;
  /**
   * A connection to a unix socket in there, as a program's stdin and stdout; absent where we reach
   * it ourselves. @throws RunError
   */
  connect?(path: string, signal: AbortSignal): Promise<Child>;
  /** Stops everything that was started here and removes it. Repeats are harmless. */
  close(): Promise<void>;
}
