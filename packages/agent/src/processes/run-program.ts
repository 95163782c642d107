import { join } from "node:path";
import { type Child, type ChildRequest, startChild } from "./child.ts";

/** The start parameters of a program, wherever it runs. */
export interface ProgramRequest extends Pick<ChildRequest, "args" | "env" | "signal" | "isDump"> {
  /**
   * Its stdin will be written to its end (`feed`) even if the program ends first, so that its last
   * output is not lost anywhere.
   */
  readonly isFed?: boolean;
  /**
   * Its stdin may be as long as a backup. Where one program can be fed without a relay of ours, it
   * is the first one that asks.
   */
  readonly isFedDirectly?: boolean;
}

/**
 * Starts a program by its name (`psql`, `pg_restore`) where it is: on this host, or in a scratch
 * server's container.
 * @throws RunError `tool_missing`, `interrupted`, `sandbox_failed`.
 */
export type RunProgram = (name: string, request: ProgramRequest) => Promise<Child>;

/**
 * The programs in a directory of this host, each started with `env` added to its own environment.
 */
export function programsIn(bin: string, env: Readonly<Record<string, string>> = {}): RunProgram {
  return (name, request) =>
    startChild({ ...request, command: join(bin, name), env: { ...env, ...request.env } });
}
