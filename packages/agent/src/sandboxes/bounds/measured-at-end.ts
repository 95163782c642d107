import type { Child, Exit } from "../../processes/child.ts";
import type { Place, PlaceProgram } from "../place.ts";
import type { ReachedLimit } from "./confinement.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";
import { holdsMore } from "./watch-disk.ts";

/**
 * The same place, but its programs count as ended only after the disk was measured. A server that
 * reached its limit may take its client with it before the next look, or tell it that the disk is
 * full. A dump could use this to make its test one that could not run. Clients ignore errors, so an
 * exit code says nothing. Does not wait for programs that are being stopped.
 */
export function measuredAtEnd(
  place: Place,
  directory: string,
  { disk_bytes }: SandboxLimits,
  onLimit: (limit: ReachedLimit) => void,
): Place {
  const told = async (exit: Exit): Promise<Exit> => {
    if (exit.signal === null && (await holdsMore(directory, disk_bytes))) onLimit("disk");
    return exit;
  };
  return {
    ...place,
    start: async (program: PlaceProgram): Promise<Child> => {
      const child = await place.start(program);
      const exited = child.exited.then(told);
      return {
        ...child,
        exited,
      };
    },
  };
}
