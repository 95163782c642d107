import { statfs } from "node:fs/promises";
import { errorMessage } from "@attestore/host/errno";
import { formatBytes } from "@attestore/proof";
import { failed, type Finding, ok, warning } from "@attestore/host/finding";

const MIB = 1024 ** 2;
/** The space that uploads leave free for the embedded database. With less, they are refused. */
const RESERVED = 256 * MIB;
const SCARCE = 2048 * MIB;

/** Free space and inodes of the data directory's file system. */
export async function examineDisk(directory: string): Promise<Finding[]> {
  try {
    const { bavail, bsize, ffree, files } = await statfs(directory);
    return [spaceFinding(directory, bavail * bsize), ...inodeFindings(directory, ffree, files)];
  } catch (error) {
    return [
      failed(
        "disk",
        `${directory}: ${errorMessage(error)}.`,
        "Check ATTESTORE_DATA and the mount behind it.",
      ),
    ];
  }
}

export function spaceFinding(directory: string, free: number): Finding {
  const message = `${formatBytes(free)} free on the file system of ${directory}.`;
  if (free < RESERVED)
    return failed(
      "disk",
      message,
      "Free some space: uploads are refused, and the database stops when the disk is full.",
    );
  if (free < SCARCE) return warning("disk", message, "Free some space before it runs out.");
  return ok("disk", message);
}

/** Some file systems don't count them and report 0. */
function inodeFindings(directory: string, free: number, all: number): Finding[] {
  if (all === 0 || free > 10_000) return [];
  return [
    warning(
      "disk",
      `${free} inodes free on the file system of ${directory}.`,
      "Remove files, or make the file system larger.",
    ),
  ];
}
