import { CouldNotRun } from "../runs/could-not-run.ts";
import { EngineApiError } from "./container/engine-api.ts";
import { findAbandoned, reapContainers } from "./container/leftovers.ts";
import { findEngineApi } from "./container/runtime-socket.ts";
import {
  findAbandonedDirectories,
  placesOfDirectories,
  removeAbandoned,
} from "./process/scratch-directory.ts";

/** What a run that was killed left: it holds restored data. */
export interface Leftover {
  readonly kind: "directory" | "container" | "volume";
  /** The directory's path, the container's id, the volume's name. */
  readonly name: string;
}

/**
 * What is there although the process that made it is gone: directories (a server may still run in one), containers and
 * volumes. Containers only where a runtime answers. What belongs to a run that lives is none.
 * @throws EngineApiError if a runtime breaks off
 */
export async function findLeftovers(scratchDir: string): Promise<Leftover[]> {
  return collect(scratchDir, findAbandonedDirectories, findAbandoned);
}

/** Removes all of that, and says what it was. Two at once do no harm. @throws EngineApiError */
export async function reapLeftovers(scratchDir: string): Promise<Leftover[]> {
  return collect(scratchDir, removeAbandoned, reapContainers);
}

async function collect(
  scratchDir: string,
  ofDirectory: (parent: string) => Promise<string[]>,
  ofRuntime: typeof findAbandoned,
): Promise<Leftover[]> {
  const leftovers: Leftover[] = [];
  for (const parent of placesOfDirectories(scratchDir)) {
    const paths = await ofDirectory(parent);
    leftovers.push(...paths.map((name) => ({ kind: "directory" as const, name })));
  }
  const api = await findEngineApi().catch((error: unknown) => {
    if (error instanceof CouldNotRun || error instanceof EngineApiError) return null;
    throw error;
  });
  return api === null ? leftovers : [...leftovers, ...(await ofRuntime(api))];
}
