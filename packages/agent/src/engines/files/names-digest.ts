import { createHash } from "node:crypto";
import { lstat, opendir } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import { TreePaths } from "../../trees/tree-paths.ts";

/**
 * A digest that is the same before and after if meanwhile no name was made, removed or moved: that
 * moves the time of the directory's inode, which no program can set back. tar alone would miss a
 * file that is moved from where it has not yet looked to where it has. Only directories are asked
 * about, so that this is quick beside the dump.
 */
export async function namesDigest(root: string, signal: AbortSignal): Promise<string> {
  const digest = createHash("sha256");
  const paths = await TreePaths.of(root);
  try {
    const waiting = ["."];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      signal.throwIfAborted();
      const at = await paths.at(path);
      const { dev, ino, nlink, ctimeNs } = await lstat(at, { bigint: true });
      const name = path.slice(path.lastIndexOf("/") + 1);
      digest.update(`${name}\0${dev} ${ino} ${nlink} ${ctimeNs}\0`, "latin1");
      const directories: string[] = [];
      try {
        // Nothing else is kept: one directory may hold millions of names.
        const items = await opendir(at, { encoding: "latin1", bufferSize: 1024 });
        for await (const item of items) if (item.isDirectory()) directories.push(item.name);
      } catch (error) {
        // tar says so, and names it.
        if (errorCode(error) !== "EACCES") throw error;
      }
      for (const each of directories.sort().reverse()) waiting.push(path === "." ? each : `${path}/${each}`);
    }
  } finally {
    await paths.close();
  }
  return digest.digest("hex");
}
