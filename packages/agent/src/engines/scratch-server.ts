import type { Child } from "../processes/child.ts";
import type { ProgramRequest, RunProgram } from "../processes/run-program.ts";
import type { Runtime } from "./engine.ts";

/**
 * A database server that is thrown away: all that an engine's restore knows of it. Whether it is a process of this host or
 * runs in a container is for whoever started it.
 */
export interface ScratchServer {
  readonly runtime: Runtime;
  /** Starts one of the engine's client programs, in an environment in which it reaches the server. */
  readonly run: RunProgram;
  /** Starts any program where the server is, in the same environment. */
  readonly command?: (command: string, request: ProgramRequest) => Promise<Child>;
  /**
   * A directory that both we and those programs see, for a dump that has to lie on a disk: by our name for it, and by
   * theirs. What is in it goes with the server. Null where there is none: a container shares nothing with its host.
   */
  readonly files: { readonly ours: string; readonly theirs: string } | null;
  /** SQLSTATEs of the errors so far, oldest first. */
  readonly errors: readonly string[];
  /** Says that its disk was full at some time. */
  hasRunFull(): boolean;
  /** Says that the server is gone although nobody stopped it. */
  hasDied(): boolean;
  close(): Promise<void>;
}
