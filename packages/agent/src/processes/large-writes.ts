import { constants } from "node:fs";
import { access } from "node:fs/promises";

/**
 * The library that coreutils' stdbuf loads into programs: Debian and Red Hat; before 2019 and
 * Alpine.
 */
const LIBRARIES = ["/usr/libexec/coreutils/libstdbuf.so", "/usr/lib/coreutils/libstdbuf.so"];

const BYTES = 64 * 1024;

/**
 * An environment in which a C program writes its output in pieces of 64 KiB instead of single
 * pages. Our time for a piece does not depend on its size, and a dump of some GiB would have
 * several hundred thousand pages. Empty on hosts without coreutils' library. Then, or if the
 * library does not load, the program writes as usual.
 */
export async function largeWrites(): Promise<Readonly<Record<string, string>>> {
  for (const library of LIBRARIES) {
    try {
      await access(library, constants.R_OK);
      return { LD_PRELOAD: library, _STDBUF_O: String(BYTES) };
    } catch {
      continue;
    }
  }
  return {};
}
