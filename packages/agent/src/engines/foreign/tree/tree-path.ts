import { MalformedArchive } from "../../files/tar/tar-header.ts";

/**
 * Where tar puts a name: below the tree, without a `/` before it.
 * @throws MalformedArchive for a name that has a `..`
 */
export function treePath(name: string): string {
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..") || name.includes("\0") || name === "")
    throw new MalformedArchive("a name is empty, or has a ..");
  return parts.length === 0 ? "." : parts.join("/");
}
