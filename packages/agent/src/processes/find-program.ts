import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** The first directory of PATH with an executable of that name, as the full path to it; null if there is none. */
export async function findProgram(name: string): Promise<string | null> {
  for (const directory of (process.env["PATH"] ?? "/usr/bin:/bin").split(delimiter)) {
    const path = join(directory === "" ? "." : directory, name);
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
