import { dirname } from "node:path";
import { type Child, startChild } from "../processes/child.ts";

/**
 * A program of the customer's for what was restored into a file or directory: ATTESTORE_RESTORED names it.
 * @throws CouldNotRun `tool_missing`, `interrupted`
 */
export function startBeside(
  path: string,
  [command = "", ...args]: readonly string[],
  signal: AbortSignal,
): Promise<Child> {
  return startChild({ command, args, env: { ATTESTORE_RESTORED: path }, cwd: dirname(path), signal });
}
