import { RunError } from "../errors/run-error.ts";
import { EngineApiError } from "./container/engine-api.ts";
import { findAbandoned, reapContainers } from "./container/leftovers.ts";
import { findEngineApi } from "./container/runtime-socket.ts";
import {
  type AbandonedDirectory,
  findAbandonedDirectories,
  removeAbandonedDirectories,
} from "./process/abandoned-directories.ts";

/** Leftovers of a killed run; they contain restored data. */
export interface Leftover {
  readonly kind: "directory" | "container" | "volume";
  /** The directory's path, the container's id, the volume's name. */
  readonly name: string;
  /** Why it could not be removed; null if it is gone, or was only searched for. */
  readonly problem: string | null;
}

/**
 * Things that exist although the process that made them is gone: directories (a server may still
 * run in one), containers and volumes. Containers only if a runtime answers. Nothing that belongs
 * to a live run.
 * @throws EngineApiError if a runtime breaks off
 */
export async function findLeftovers(scratchDir: string): Promise<Leftover[]> {
  return collect(await findAbandonedDirectories(scratchDir), findAbandoned);
}

/** Removes all of them, and returns them. Two calls at once do no harm. @throws EngineApiError */
export async function reapLeftovers(scratchDir: string): Promise<Leftover[]> {
  return collect(await removeAbandonedDirectories(scratchDir), reapContainers);
}

async function collect(
  directories: readonly AbandonedDirectory[],
  ofRuntime: typeof findAbandoned,
): Promise<Leftover[]> {
  const leftovers = directories.map(({ path, problem }): Leftover => ({
    kind: "directory",
    name: path,
    problem,
  }));
  const api = await findEngineApi().catch((error: unknown) => {
    if (error instanceof RunError || error instanceof EngineApiError) return null;
    throw error;
  });
  if (api === null) return leftovers;
  return [...leftovers, ...(await ofRuntime(api)).map((each) => ({ ...each, problem: null }))];
}

/** For people. */
export function describeLeftover({ kind, name, problem }: Leftover): string {
  return problem === null
    ? `removed leftovers of a killed run: ${kind} ${name}`
    : `the ${kind} ${name}, which may hold restored data of an earlier run, could not be removed: ${problem}. Remove it by hand.`;
}
