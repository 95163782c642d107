import type { Child } from "../processes/child.ts";
import type { ProgramRequest, RunProgram } from "../processes/run-program.ts";
import type { Runtime } from "./engine.ts";

/** A directory next to the server. Its files are removed together with the server. */
export interface ScratchFiles {
  /** The path as those programs see it. */
  readonly directory: string;
  /**
   * Writes a file, and creates its directory, as the user of those programs. A program that runs
   * there may have placed a link, and as this user the link leads nowhere that the program could
   * not go itself.
   * @param path below the directory
   * @throws RunError, and any error from the content.
   */
  write(path: string, content: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void>;
}

/**
 * A database server that is thrown away. This is all that an engine's restore knows about it. Only
 * the code that started it knows whether it is a process or a container.
 */
export interface ScratchServer {
  readonly runtime: Runtime;
  /**
   * Starts one of the engine's client programs with an environment in which it reaches the server.
   */
  readonly run: RunProgram;
  /** Starts any program next to the server, in the same environment. */
  readonly command?: (command: string, request: ProgramRequest) => Promise<Child>;
  /** For a dump that must be on a disk. Null if files can't be put next to the server. */
  readonly files: ScratchFiles | null;
  /** The path of the dump, if it was written next to the server while that started. */
  readonly dump?: string;
  /**
   * The SQLSTATEs of the server's own errors so far, oldest first. An error that code of the
   * restored database raised counts as P0001.
   */
  readonly errors: readonly string[];
  /** Whether its disk was full at some time. */
  hasRunFull(): boolean;
  /** Whether the server ended although nobody stopped it. */
  hasDied(): boolean;
  /**
   * Whether one of its processes was killed, as the kernel does when memory runs out; absent if
   * that can't be known.
   */
  readonly wasKilled?: () => boolean;
  close(): Promise<void>;
}
