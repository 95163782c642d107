import type { Restic } from "./restic.ts";
import { resticFailed } from "./restic.ts";

/** One file of a snapshot. The content throws, instead of ending, if restic did not give all of it. */
export async function dumpedFile(
  restic: Restic,
  snapshot: string,
  file: string,
): Promise<{ readonly content: AsyncIterable<Buffer>; close(): Promise<void> }> {
  const child = await restic.start(["dump", snapshot, file]);
  child.stdin.end();
  return {
    content: (async function* () {
      for await (const piece of child.stdout as AsyncIterable<Buffer>) yield piece;
      const exit = await child.exited;
      if (exit.code !== 0) throw resticFailed(exit, "reading a file of a snapshot");
    })(),
    close: async () => {
      await child.stop();
    },
  };
}
