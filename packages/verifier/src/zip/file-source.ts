import { open } from "node:fs/promises";
import { CannotTell } from "../cannot-tell.ts";
import { ZipError } from "./zip-error.ts";
import type { ZipSource } from "./zip-source.ts";

/** A file on a disk. Throws CannotTell, as its reads do. */
export async function openFileSource(path: string): Promise<ZipSource> {
  const readable = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ZipError) throw error;
      throw new CannotTell("file_unreadable", `${path} cannot be read: ${String(error)}`);
    }
  };
  const file = await readable(() => open(path));
  try {
    const { size } = await readable(() => file.stat());
    return {
      size,
      read: (position, length) =>
        readable(async () => {
          const buffer = Buffer.alloc(length);
          for (let at = 0; at < length;) {
            const { bytesRead } = await file.read(buffer, at, length - at, position + at);
            if (bytesRead === 0) throw new ZipError("it is shorter than it says");
            at += bytesRead;
          }
          return buffer;
        }),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}
