import { dirname } from "node:path";
import type { Child } from "../processes/child.ts";
import type { Place } from "../sandboxes/place.ts";

/**
 * A program of the customer's for what was restored into a file or directory of a place: ATTESTORE_RESTORED names it.
 * @throws RunError `tool_missing`, `interrupted`
 */
export function runCheckProgram(
  place: Place,
  path: string,
  [command = "", ...args]: readonly string[],
  signal: AbortSignal,
): Promise<Child> {
  return place.start({ command, args, env: { ATTESTORE_RESTORED: path }, cwd: dirname(path), signal });
}
