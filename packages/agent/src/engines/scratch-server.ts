import type { Child } from "../processes/child.ts";
import type { ProgramRequest, RunProgram } from "../processes/run-program.ts";
import type { Runtime } from "./engine.ts";

/** A directory of the server's place. What is in it goes with the server. */
export interface ScratchFiles {
  /** As those programs call it. */
  readonly directory: string;
  /**
   * Writes a file, and the directory that it lies in, as the user of those programs: what runs beside it may have put a link
   * there, which leads them nowhere that they could not go.
   * @param path below the directory
   * @throws RunError, and whatever the content throws.
   */
  write(path: string, content: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void>;
}

/**
 * A database server that is thrown away: all that an engine's restore knows of it. Whether it is a
 * process of this host or runs in a container is for whoever started it.
 */
export interface ScratchServer {
  readonly runtime: Runtime;
  /**
   * Starts one of the engine's client programs, in an environment in which it reaches the server.
   */
  readonly run: RunProgram;
  /** Starts any program where the server is, in the same environment. */
  readonly command?: (command: string, request: ProgramRequest) => Promise<Child>;
  /** For a dump that has to lie on a disk. Null where nothing can be put beside the server. */
  readonly files: ScratchFiles | null;
  /**
   * SQLSTATEs of the server's own errors so far, oldest first; what code of the restored database
   * raised counts as P0001.
   */
  readonly errors: readonly string[];
  /** Says that its disk was full at some time. */
  hasRunFull(): boolean;
  /** Says that the server is gone although nobody stopped it. */
  hasDied(): boolean;
  /**
   * Says that one of its processes was killed, as the kernel does when memory runs out; absent
   * where nobody can know.
   */
  readonly wasKilled?: () => boolean;
  close(): Promise<void>;
}
