import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SmallDisk } from "../../../../host/test/small-disk.ts";
import { dumpTree, makePlace, restoreTree } from "../../../test/files/round-trip.ts";

it.each([
  [
    "of bytes",
    { bytes: 4 << 20 },
    (tree: string) => writeFileSync(join(tree, "large"), Buffer.alloc(8 << 20, "x")),
  ],
  [
    "of names",
    { bytes: 64 << 20, names: 100 },
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
    try {
      using _ = new SmallDisk(small, limit);
      const restored = restoreTree(archive, small, () => Promise.resolve("restored"));
      await expect(restored).rejects.toMatchObject({ name: "RunError", code: "disk_full" });
      expect(readdirSync(small)).toEqual([]);
    } finally {
      place.remove();
    }
  },
);
