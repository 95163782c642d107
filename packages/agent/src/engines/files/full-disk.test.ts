/** A small file system in memory that really fills up. Only root can mount it. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { dumpTree, makePlace, restoreTree } from "../../../test/files/round-trip.ts";

it.each([
  ["of bytes", "size=4m", (tree: string) => writeFileSync(join(tree, "large"), Buffer.alloc(8 << 20, "x"))],
  [
    "of names",
    "nr_inodes=100",
    (tree: string) => {
      for (let file = 0; file < 200; file++) writeFileSync(join(tree, `f${file}`), "");
    },
  ],
])(
  "a restore on a disk that has no room left %s is no result, and leaves nothing",
  async (_name, limit, plant) => {
    const place = makePlace();
    const [tree, small] = [join(place.path, "tree"), join(place.path, "small")];
    mkdirSync(tree);
    mkdirSync(small);
    plant(tree);
    const { archive } = await dumpTree(tree);
    execFileSync("mount", ["-t", "tmpfs", "-o", `${limit},mode=0700`, "tmpfs", small]);
    try {
      const restored = restoreTree(archive, small, () => Promise.resolve("restored"));
      await expect(restored).rejects.toMatchObject({ name: "RunError", code: "disk_full" });
      expect(readdirSync(small)).toEqual([]);
    } finally {
      execFileSync("umount", [small]);
      place.remove();
    }
  },
);
