import { text } from "node:stream/consumers";
import { startChild } from "../../processes/child.ts";
import { RunError } from "../../errors/run-error.ts";

export const TAR = "tar";

/** The version that brought `--sort=name`. */
const OLDEST = [1, 28] as const;

/**
 * Returns the version of this host's GNU tar, such as `1.34`.
 * @throws RunError `tool_missing`, `tool_too_old`.
 */
export async function gnuTarVersion(signal: AbortSignal): Promise<string> {
  const child = await startChild({ command: TAR, args: ["--version"], signal });
  child.stdin.end();
  const [output] = await Promise.all([text(child.stdout), child.exited]);
  const [, version, major, minor] = /^tar \(GNU tar\) (([0-9]+)\.([0-9]+)(?:\.[0-9]+)?)/.exec(output) ?? [];
  if (version === undefined) {
    throw new RunError("tool_missing", "this host's tar is not GNU tar: install GNU tar");
  }
  if (Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1])) {
    throw new RunError("tool_too_old", `GNU tar ${version} is too old: install 1.28 or newer`);
  }
  return version;
}
