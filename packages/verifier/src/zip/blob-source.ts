import { ZipError } from "./zip-error.ts";
import type { ZipSource } from "./zip-source.ts";

/** A file that somebody gave to a browser. Only what is read gets into memory. */
export function blobSource(blob: Blob): ZipSource {
  return {
    size: blob.size,
    read: async (position, length) => {
      const bytes = new Uint8Array(await blob.slice(position, position + length).arrayBuffer());
      if (bytes.length !== length) throw new ZipError("it is shorter than it says");
      return bytes;
    },
    close: () => Promise.resolve(),
  };
}
