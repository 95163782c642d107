import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What the dashboard says while there is nothing to install from. Anybody may read it, so it names
 * no reason and no path: those are for the console.
 */
export type BuildState =
  | { state: "building"; step: number; steps: number; at: string }
  | { state: "failed"; at: string };

const NAME = "build.json";

export function writeBuildState(directory: string, state: BuildState): void {
  mkdirSync(directory, { recursive: true });
  const partial = join(directory, ".build.json");
  writeFileSync(partial, JSON.stringify(state));
  renameSync(partial, join(directory, NAME));
}

/** Once everything is built, and if whoever wanted it is gone. */
export function removeBuildState(directory: string): void {
  rmSync(join(directory, NAME), { force: true });
}
