import { readFile, readdir, stat } from "node:fs/promises";

export type ProcessState = "gone" | "zombie" | "running";

/** A zombie has ended but answers kill(pid, 0), which is all that PostgreSQL checks. */
export async function processState(pid: number): Promise<ProcessState> {
  try {
    const line = await readFile(`/proc/${pid}/stat`, "utf8");
    const state = line.slice(line.lastIndexOf(")") + 2, line.lastIndexOf(")") + 3);
    return state === "Z" || state === "X" ? "zombie" : "running";
  } catch {
    return "gone";
  }
}

/**
 * The processes with this working directory: every process of a PostgreSQL server works in its data
 * directory. Compared by device and inode, because a server may see the directory under another
 * path.
 */
export async function processesWorkingIn(directory: string): Promise<number[]> {
  const wanted = await stat(directory);
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const at = await stat(`/proc/${name}/cwd`).catch(() => null); // Ended meanwhile, or somebody else's.
    if (at !== null && at.dev === wanted.dev && at.ino === wanted.ino) found.push(Number(name));
  }
  return found;
}
