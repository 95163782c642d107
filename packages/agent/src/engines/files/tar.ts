import { text } from "node:stream/consumers";
import { startChild } from "../../processes/child.ts";
import { CouldNotRun } from "../../runs/could-not-run.ts";

/** The version of GNU tar. @throws CouldNotRun `tool_missing`; other tars sort, and restore, differently. */
export async function tarVersion(): Promise<string> {
  const child = await startChild({
    command: "tar",
    args: ["--version"],
    signal: AbortSignal.timeout(10_000),
  });
  child.stdin.end();
  const output = await text(child.stdout);
  await child.exited;
  const version = /^tar \(GNU tar\) ([0-9.]+)/.exec(output)?.[1];
  if (version === undefined) throw new CouldNotRun("tool_missing", "tar is not GNU tar: install GNU tar");
  return version;
}

/** The same tree, the same bytes: sorted, owners as numbers, and of the times only the files' own. Holes stay holes. */
export const CREATE = [
  "--create",
  "--file=-",
  "--format=posix",
  "--sort=name",
  "--numeric-owner",
  "--sparse",
  "--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime",
];

/**
 * GNU tar refuses names with `..`, takes the `/` off absolute ones, and makes links that lead out of the tree only after
 * everything else, so that nothing is written through them.
 */
export const EXTRACT = [
  "--extract",
  "--file=-",
  "--numeric-owner",
  "--no-same-owner",
  "--preserve-permissions",
  "--delay-directory-restore",
];
