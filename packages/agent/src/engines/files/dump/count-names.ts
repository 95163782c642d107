import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import { entriesIn } from "../../../trees/entries-in.ts";
import { TreePaths } from "../../../trees/tree-paths.ts";

/** What is below a directory. */
export interface Names {
  /** Changes if a name is made, removed or moved. */
  readonly digest: string;
  /** With the directory itself. */
  readonly directories: number;
  /** Everything but directories and sockets, as a manifest counts files. */
  readonly files: number;
  /** No archive has them. */
  readonly sockets: number;
  /** Names of pipes that have more links. tar archives each name as a pipe of its own. */
  readonly linkedPipes: number;
}

/**
 * Counts names, and makes a digest over the change times of all directories. If it is the same
 * before and after the dump, no name was made, removed or moved in between: that would change the
 * time of the directory's inode, which no program can set back. tar alone would miss a file that is
 * moved from a directory where it has not looked yet to one where it has. The counts show whether
 * it left something out. This is quick compared with the dump, because it only looks at
 * directories.
 */
export async function countNames(root: string, signal: AbortSignal): Promise<Names> {
  const counts = { directories: 0, files: 0, sockets: 0, linkedPipes: 0 };
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
      counts.directories += 1;
      const directories: string[] = [];
      try {
        // Keep only directories: one of them may contain millions of names.
        for await (const item of entriesIn(at))
          if (item.isDirectory()) directories.push(item.name);
          else {
            counts[item.isSocket() ? "sockets" : "files"] += 1;
            if (item.isFIFO() && (await hasLinks(await paths.at(below(path, item.name)))))
              counts.linkedPipes += 1;
          }
      } catch (error) {
        // tar reports this and names the directory.
        if (errorCode(error) !== "EACCES") throw error;
      }
      for (const each of directories.sort().reverse()) waiting.push(below(path, each));
    }
  } finally {
    await paths.close();
  }
  return { ...counts, digest: digest.digest("hex") };
}

const below = (path: string, name: string): string => (path === "." ? name : `${path}/${name}`);

async function hasLinks(pipe: string | Buffer): Promise<boolean> {
  try {
    return (await lstat(pipe)).nlink > 1;
  } catch (error) {
    // It was removed since, which the directory's time tells.
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}
