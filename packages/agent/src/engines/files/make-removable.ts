import { chmod, readdir } from "node:fs/promises";
import { pathIn } from "./walk-tree.ts";

/** Gives the owner back what a restored directory's mode may take away: the right to remove what is in it. Root has it anyway. */
export async function makeRemovable(root: string): Promise<void> {
  if (process.getuid?.() === 0) return;
  const waiting = ["."];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const at = pathIn(root, path);
    try {
      await chmod(at, 0o700);
    } catch {
      // Not there, or not ours: the removal will say so.
      continue;
    }
    for (const item of await readdir(at, { withFileTypes: true, encoding: "buffer" })) {
      if (item.isDirectory()) waiting.push(`${path}/${item.name.toString("latin1")}`);
    }
  }
}
