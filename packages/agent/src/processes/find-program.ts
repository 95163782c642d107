import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { searchPath } from "./search-path.ts";

/**
 * The full path of an executable with that name, from the first safe directory of PATH that has
 * one; null if there is none.
 */
export async function findProgram(name: string): Promise<string | null> {
  for (const directory of searchPath().split(delimiter)) {
    const path = join(directory, name);
    if (await isExecutable(path)) return path;
  }
  return null;
}

export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
