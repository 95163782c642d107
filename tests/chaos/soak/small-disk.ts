import { spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";

const MIB = 1024 ** 2;

/** A file system of its own, small enough to be filled. Making one takes root's rights. */
export class SmallDisk {
  readonly directory: string;

  /** @param directory an empty one, that it is mounted at */
  constructor(directory: string, mebibytes: number) {
    this.directory = directory;
    run("mount", "-t", "tmpfs", "-o", `size=${mebibytes}m,mode=0755`, "attestore-soak", directory);
  }

  /** Leaves so much room, or none; `empty` gives it back. */
  fill(leftMebibytes = 0): void {
    const file = openSync(this.#ballast, "w");
    const piece = Buffer.alloc(MIB);
    try {
      const { bavail, bsize } = statfsSync(this.directory);
      for (let left = bavail * bsize - leftMebibytes * MIB; left > 0; left -= MIB)
        writeSync(file, piece, 0, Math.min(left, MIB));
    } catch (error) {
      // It is full, which is what is wanted.
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      closeSync(file);
    }
  }

  empty(): void {
    rmSync(this.#ballast, { force: true });
  }

  /** All that are mounted below the directory. What still uses one keeps it until it ends. */
  static unmountBelow(directory: string): void {
    for (const line of readFileSync("/proc/mounts", "utf8").split("\n")) {
      const place = line.split(" ")[1] ?? "";
      if (place.startsWith(`${directory}/`)) run("umount", "--lazy", place);
    }
  }

  get #ballast(): string {
    return join(this.directory, "ballast");
  }
}

function run(program: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr}`);
}
