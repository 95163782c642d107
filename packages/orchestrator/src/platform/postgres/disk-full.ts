import { statfs } from "node:fs/promises";
import { formatBytes } from "@attestore/proof";

/** PostgreSQL writes 16 MiB of its log at once, and a new cluster takes 40 MiB. */
const SCARCE_BYTES = 64 * 1024 ** 2;

/**
 * A sentence for a failure of PostgreSQL if its file system is full or nearly so, else nothing: it
 * may name no reason at all, such as when it is killed for a page that the disk has no room for.
 */
export async function diskFullReason(directory: string): Promise<string> {
  const found = await statfs(directory).catch(() => null);
  if (found === null) return "";
  const free = found.bavail * found.bsize;
  return free >= SCARCE_BYTES
    ? ""
    : ` The file system of ${directory} has ${formatBytes(free)} free: make room there.`;
}
