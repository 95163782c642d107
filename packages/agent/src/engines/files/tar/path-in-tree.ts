import { MalformedArchive } from "./tar-header.ts";

/**
 * Turns `./a/b`, and `./a/b/` for directories, into `a/b`. tar writes names in this way below the
 * directory that it was given.
 * @throws MalformedArchive for absolute names and for `..`, which would lead out of the tree
 */
export function pathInTree(name: string, isDirectory: boolean): string {
  if (isDirectory && name === "./") return ".";
  const path = isDirectory && name.endsWith("/") ? name.slice(0, -1) : name;
  const [dot, ...parts] = path.split("/");
  const isInside = dot === "." && parts.length > 0 && parts.every((part) => !["", ".", ".."].includes(part));
  if (!isInside || path.includes("\0")) {
    throw new MalformedArchive("an entry's name is absolute, has a .., or is not below the tree's root");
  }
  return path.slice(2);
}
