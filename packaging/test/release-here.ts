import { existsSync, readFileSync } from "node:fs";
import { setTimeout as later } from "node:timers/promises";
import { inject, type ProvidedContext } from "vitest";

/** The release that the tests look at, once it is built. */
export async function releaseHere(): Promise<ProvidedContext["release"]> {
  const release = inject("release");
  // The build writes this last, whether it succeeded or not.
  while (!existsSync(release.ended)) await later(200);
  const failure = readFileSync(release.ended, "utf8");
  if (failure !== "") throw new Error(`no release was built: ${failure}`);
  return release;
}
