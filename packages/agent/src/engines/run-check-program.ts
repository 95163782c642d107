import { dirname } from "node:path";
import type { Child } from "../processes/child.ts";
import type { Place } from "../sandboxes/place.ts";

/**
 * Starts one of the customer's programs for a restored file or directory. ATTESTORE_RESTORED has
 * its path.
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
