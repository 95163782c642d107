import type { Restic } from "./restic.ts";

/**
 * One file of a snapshot. If restic does not give all of it, iterating over the content throws
 * instead of ending.
 */
export async function dumpedFile(
  restic: Restic,
  snapshot: string,
  file: string,
): Promise<{ readonly content: AsyncIterable<Buffer>; close(): Promise<void> }> {
  const child = await restic.start(["dump", snapshot, file]);
  return {
    content: (async function* () {
      for await (const piece of child.stdout as AsyncIterable<Buffer>) yield piece;
      const exit = await child.exited;
      if (exit.code !== 0) throw restic.failed(exit, "reading a file of a snapshot");
    })(),
    close: async () => {
      await child.stop();
    },
  };
}
