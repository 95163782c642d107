import { open } from "node:fs/promises";
import { join } from "node:path";
import { nullIfNoObject } from "./null-if-no-object.ts";
import { requireObjectKey } from "./object-key.ts";
import type { ByteRange, ServiceFiles } from "./service-files.ts";
import { writeAsOwner } from "./write-as-owner.ts";

/** Below the hidden directory of the notes. */
export class DiskFiles implements ServiceFiles {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    await writeAsOwner(this.#root, this.#path(name), bytes);
  }

  async read(name: string, { start, length }: ByteRange): Promise<Buffer | null> {
    const file = await nullIfNoObject(open(this.#path(name), "r"));
    if (file === null) return null;
    try {
      const bytes = Buffer.alloc(length);
      const { bytesRead } = await file.read(bytes, 0, length, start);
      return bytesRead === length ? bytes : null;
    } finally {
      await file.close();
    }
  }

  #path(name: string): string {
    requireObjectKey(name);
    return join(this.#root, name);
  }
}
