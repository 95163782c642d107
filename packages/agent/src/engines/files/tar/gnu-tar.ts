import { text } from "node:stream/consumers";
import { startChild } from "../../../processes/child.ts";
import { RunError } from "../../../errors/run-error.ts";

export const TAR = "tar";

/**
 * Archives everything below the directory, also on mounted file systems. Only sockets are left out,
 * because they have no content. tar finds the names itself, so our code never passes them on as
 * text. The archive has owners, ACLs and extended attributes. It has no times of access and change,
 * because no restore can set them.
 */
export const ARCHIVING = [
  "--create",
  "--file=-",
  "--format=posix",
  "--pax-option=delete=atime,delete=ctime",
  "--sort=name",
  "--numeric-owner",
  "--acls",
  "--xattrs",
  "--sparse",
  "--blocking-factor=128",
  "--quoting-style=escape",
  "--warning=no-file-ignored",
];

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
