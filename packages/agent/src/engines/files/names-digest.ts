import { createHash } from "node:crypto";
import { lstat, opendir } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import { TreePaths } from "../../trees/tree-paths.ts";

/**
 * A digest over the change times of all directories. If it is the same before and after the dump,
 * no name was made, removed or moved in between: that would change the time of the directory's
 * inode, which no program can set back. tar alone would miss a file that is moved from a directory
 * where it has not looked yet to one where it has. This is quick compared with the dump, because it
 * only looks at directories.
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
        // Keep only directories: one of them may contain millions of names.
        const items = await opendir(at, { encoding: "latin1", bufferSize: 1024 });
        for await (const item of items) if (item.isDirectory()) directories.push(item.name);
      } catch (error) {
        // tar reports this and names the directory.
        if (errorCode(error) !== "EACCES") throw error;
      }
      for (const each of directories.sort().reverse()) waiting.push(path === "." ? each : `${path}/${each}`);
    }
  } finally {
    await paths.close();
  }
  return digest.digest("hex");
}
