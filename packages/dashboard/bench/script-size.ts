import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const ASSETS = join(import.meta.dirname, "../dist/assets");

/** Gzipped size of the built scripts in bytes: all of them, and one by its URL. */
export function scriptSize(): { all: number; of: (url: string) => number } {
  const sizes = new Map(
    readdirSync(ASSETS)
      .filter((name) => name.endsWith(".js"))
      .map((name) => [name, gzipSync(readFileSync(join(ASSETS, name))).length]),
  );
  return {
    all: [...sizes.values()].reduce((sum, size) => sum + size, 0),
    of: (url) => sizes.get(new URL(url).pathname.split("/").at(-1) ?? "") ?? 0,
  };
}
