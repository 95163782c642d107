import { constants } from "node:fs";
import { access } from "node:fs/promises";

/** What coreutils' stdbuf has programs load: Debian and Red Hat; before 2019 and Alpine. */
const LIBRARIES = ["/usr/libexec/coreutils/libstdbuf.so", "/usr/lib/coreutils/libstdbuf.so"];

const BYTES = 64 * 1024;

/**
 * The environment in which a C program writes its output in pieces of 64 KiB, where it would do so
 * in pages: of each piece, the time that we take does not depend on its size, and a dump of some
 * GiB has several hundred thousand of them. Empty on hosts without coreutils' library; then, and
 * should the library not load, the program writes as ever.
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
