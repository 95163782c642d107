import { spawnSync } from "node:child_process";
import { readFileSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** It may grow between the look at its size and its new limit, which then is refused. */
const ATTEMPTS = 100;

export interface SmallDiskOptions {
  readonly bytes: number;
  /** How many files and directories it takes, itself among them; as many as fit without this. */
  readonly names?: number;
  /** Of its own directory, in octal. */
  readonly mode?: string;
  /** Whoever still uses it when it is unmounted keeps it until they end. Otherwise that throws. */
  readonly isLazy?: boolean;
}

/** A file system in memory that really fills up. Making one takes root's rights. */
export class SmallDisk implements Disposable {
  readonly directory: string;
  readonly #bytes: number;
  readonly #isLazy: boolean;

  /** @param directory an empty one, that it is mounted at */
  constructor(directory: string, { bytes, names, mode = "0700", isLazy = false }: SmallDiskOptions) {
    this.directory = directory;
    this.#bytes = bytes;
    this.#isLazy = isLazy;
    const limits = names === undefined ? `size=${bytes}` : `size=${bytes},nr_inodes=${names}`;
    run("mount", "-t", "tmpfs", "-o", `${limits},mode=${mode}`, "attestore-small-disk", directory);
  }

  get usedBytes(): number {
    const { blocks, bfree, bsize } = statfsSync(this.directory);
    return (blocks - bfree) * bsize;
  }

  /** Takes all room but `left` bytes of it; `empty` gives it back. */
  fill(left = 0): void {
    // The kernel takes a limit of zero for none.
    if (left === 0 && this.usedBytes === 0) writeFileSync(join(this.directory, "filler"), "x");
    for (let attempt = 1; ; attempt++)
      try {
        this.#resize(this.usedBytes + left);
        return;
      } catch (error) {
        if (attempt === ATTEMPTS) throw error;
      }
  }

  empty(): void {
    this.#resize(this.#bytes);
  }

  [Symbol.dispose](): void {
    run("umount", ...(this.#isLazy ? ["--lazy"] : []), this.directory);
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
