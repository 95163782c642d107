import { opendir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncDirectory } from "@attestore/host/durable-files";
import { nullIfNoObject } from "./null-if-no-object.ts";
import { requireObjectKey } from "./object-key.ts";
import type { ServiceNotes } from "./service-notes.ts";
import { writeAsOwner } from "./write-as-owner.ts";

/** Files below a hidden directory of `objects/`, so that they move with the objects. */
export class DiskNotes implements ServiceNotes {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  read(name: string): Promise<string | null> {
    return nullIfNoObject(readFile(this.#path(name), "utf8"));
  }

  async write(name: string, text: string): Promise<void> {
    await writeAsOwner(this.#root, this.#path(name), text);
  }

  async remove(name: string): Promise<void> {
    const path = this.#path(name);
    if ((await this.read(name)) === null) return;
    await rm(path, { force: true });
    await syncDirectory(dirname(path));
  }

  async *list(prefix: string): AsyncIterable<string> {
    // Not all below the root: the archive is there too, with very many files.
    const folder = prefix.slice(0, prefix.lastIndexOf("/") + 1);
    for await (const name of namesIn(join(this.#root, folder), folder))
      if (name.startsWith(prefix)) yield name;
  }

  #path(name: string): string {
    requireObjectKey(name);
    return join(this.#root, name);
  }
}

async function* namesIn(directory: string, prefix: string): AsyncIterable<string> {
  const entries = await nullIfNoObject(opendir(directory));
  if (entries === null) return;
  for await (const entry of entries) {
    if (entry.name.startsWith(".")) continue;
    if (entry.isFile()) yield prefix + entry.name;
    if (entry.isDirectory()) yield* namesIn(join(directory, entry.name), `${prefix}${entry.name}/`);
  }
}
