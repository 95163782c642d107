import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import type { Name } from "./open.ts";

/** A name in a directory, and what it is. */
export type Entry = Pick<Dirent, "isDirectory" | "isFile" | "isSymbolicLink" | "isSocket" | "isFIFO"> & {
  readonly name: Name;
};

/**
 * What is in a directory, one after the other: there may be millions. Some file systems do not say
 * with a name what it is. Then Node looks at each, and it can put together the path of a directory
 * with a name only if that is a Buffer.
 */
export async function* entriesIn(directory: string | Buffer): AsyncGenerator<Entry, void, undefined> {
  const items = await opendir(directory, { encoding: "buffer" as BufferEncoding, bufferSize: 1024 });
  for await (const item of items) {
    const name = (item.name as unknown as Buffer).toString("latin1");
    yield {
      name,
      isDirectory: () => item.isDirectory(),
      isFile: () => item.isFile(),
      isSymbolicLink: () => item.isSymbolicLink(),
      isSocket: () => item.isSocket(),
      isFIFO: () => item.isFIFO(),
    };
  }
}
