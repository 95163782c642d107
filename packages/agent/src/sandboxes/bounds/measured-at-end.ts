import type { Child, Exit } from "../../processes/child.ts";
import type { Place, PlaceProgram } from "../place.ts";
import type { ReachedLimit } from "./confinement.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";
import { holdsMore } from "./watch-disk.ts";

/**
 * The same place, whose programs have ended only once the disk was measured: a server that met its
 * bound may take its client with it before the next look, or tell it of a full disk, and a dump
 * could choose in that way that its test could not run. Clients pass over errors, so an exit code
 * says nothing. What is being stopped is not waited for.
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
