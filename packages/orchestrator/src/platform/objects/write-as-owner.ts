import { chown, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { makeDirectory, replaceFile } from "@attestore/host/durable-files";
import { nullIfNoObject } from "./null-if-no-object.ts";

/**
 * Replaces a file below `root`, and makes the directories on its way. A command may run as root
 * beside a service that does not: then they belong to whoever `root`'s parent belongs to, or the
 * service could not read them.
 */
export async function writeAsOwner(root: string, path: string, content: string | Uint8Array): Promise<void> {
  const owner = process.getuid?.() === 0 ? await nullIfNoObject(stat(dirname(root))) : null;
  await makeDirectory(dirname(path));
  if (owner !== null)
    // From the outermost on, so that none is left behind that its owner cannot enter.
    for (const directory of directoriesBetween(root, path)) await chown(directory, owner.uid, owner.gid);
  await replaceFile(path, content);
  if (owner !== null) await chown(path, owner.uid, owner.gid);
}

function directoriesBetween(root: string, path: string): string[] {
  const found: string[] = [];
  for (let directory = dirname(path); directory.length >= root.length; directory = dirname(directory))
    found.unshift(directory);
  return found;
}
