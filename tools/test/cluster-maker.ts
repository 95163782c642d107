import { dirname, join } from "node:path";
import { inject } from "vitest";
import type { Place } from "../../packages/agent/src/sandboxes/place.ts";

let isMadeAnew = false;

/** From now on the tests of this file have real programs make the clusters of scratch servers. */
export function makeClustersAnew(): void {
  isMadeAnew = true;
}

/**
 * The program that puts a cluster into a place: one that copies (see `prepareClusters`), where
 * there is one and the place shows the directory with the agent's bundle.
 */
export function clusterMaker({ self }: Place, program: string): string {
  const name = inject("clusters")?.[program];
  const bundle = self.at(-1);
  return isMadeAnew || name === undefined || bundle?.endsWith(".cjs") !== true
    ? program
    : join(dirname(bundle), "clusters", name);
}
