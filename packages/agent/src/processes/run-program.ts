import { join } from "node:path";
import { type Child, type ChildRequest, startChild } from "./child.ts";

/** What a program is started with, wherever it runs. */
export interface ProgramRequest extends Pick<ChildRequest, "args" | "env" | "signal" | "isDump"> {
  /**
   * Its stdin will be given to its end (`feed`) even if it ends first: then what it says last is
   * not lost in any place.
   */
  readonly isFed?: boolean;
}

/**
 * Starts a program by its name (`psql`, `pg_restore`) where it is: on this host, or in the container of a scratch server.
 * @throws RunError `tool_missing`, `interrupted`, `sandbox_failed`.
 */
export type RunProgram = (name: string, request: ProgramRequest) => Promise<Child>;

/** Those of a directory of this host, in `env` on top of what each one is given. */
export function programsIn(bin: string, env: Readonly<Record<string, string>> = {}): RunProgram {
  return (name, request) =>
    startChild({ ...request, command: join(bin, name), env: { ...env, ...request.env } });
}
