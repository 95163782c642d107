import type { Child, ChildRequest } from "../processes/child.ts";

/** A program to run in a place, which decides the user that it runs as. */
export interface PlaceProgram extends Omit<ChildRequest, "user"> {
  /** For a server: it ends when this process ends, however that happens. */
  readonly diesWithUs?: boolean;
  /** See `ProgramRequest`. */
  readonly isFed?: boolean;
  /** See `ProgramRequest`. */
  readonly isFedDirectly?: boolean;
}

/**
 * Where an engine's programs run during one restore test: as processes of this host, or in a
 * container. They see the paths below; users of a place need not know which kind it is.
 */
export interface Place {
  /** `isolated`: processes of this host that see little of it, see `openIsolatedPlace`. */
  readonly kind: "process" | "container" | "isolated";
  /** Absolute, empty at first, for plaintext; only these programs can reach it. */
  readonly home: string;
  /** The same for unix sockets, whose paths have to be short. */
  readonly sockets: string;
  /**
   * How our own program is started in there, followed by the name of the command. Empty if it is
   * not there.
   */
  readonly self: readonly string[];
  /** The path of `home` outside; null if we don't see it. */
  readonly shared: string | null;
  /** @throws RunError `tool_missing`, `sandbox_failed`, `interrupted` */
  start(program: PlaceProgram): Promise<Child>;
  /**
   * A connection to a unix socket in there, as a program's stdin and stdout; absent if we can reach
   * it ourselves. @throws RunError
   */
  connect?(path: string, signal: AbortSignal): Promise<Child>;
  /** Stops everything that was started here and removes it. Repeats are harmless. */
  close(): Promise<void>;
}
