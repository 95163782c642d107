import { spawnSync } from "node:child_process";
import { readFileSync, statfsSync } from "node:fs";

const MIB = 1024 ** 2;
/** It may grow between the look at its size and its new limit, which then is refused. */
const ATTEMPTS = 100;

/** A file system of its own that can be made too small. Making one takes root's rights. */
export class SmallDisk {
  readonly directory: string;
  readonly #mebibytes: number;

  /** @param directory an empty one, that it is mounted at */
  constructor(directory: string, mebibytes: number) {
    this.directory = directory;
    this.#mebibytes = mebibytes;
    run("mount", "-t", "tmpfs", "-o", `size=${mebibytes}m,mode=0755`, "attestore-soak", directory);
  }

  /** Takes all room but so much of it; `empty` gives it back. */
  fill(leftMebibytes = 0): void {
    for (let attempt = 1; ; attempt++)
      try {
        const { blocks, bfree, bsize } = statfsSync(this.directory);
        this.#resize((blocks - bfree) * bsize + leftMebibytes * MIB);
        return;
      } catch (error) {
        if (attempt === ATTEMPTS) throw error;
      }
  }

  empty(): void {
    this.#resize(this.#mebibytes * MIB);
  }

  /** All that are mounted below the directory. What still uses one keeps it until it ends. */
  static unmountBelow(directory: string): void {
    for (const line of readFileSync("/proc/mounts", "utf8").split("\n")) {
      const place = line.split(" ")[1] ?? "";
      if (place.startsWith(`${directory}/`)) run("umount", "--lazy", place);
    }
  }

  #resize(bytes: number): void {
    run("mount", "-o", `remount,size=${bytes}`, this.directory);
  }
}

function run(program: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr}`);
}
