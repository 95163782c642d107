import { open, readFile, type FileHandle } from "node:fs/promises";
import { replaceFile } from "@attestore/host/durable-files";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { errorMessage } from "@attestore/host/errno";
import { UserError } from "../platform/errors/user-error.ts";
import type { Head } from "./checkpoint-signer.ts";
import { HeadNotRecorded } from "./head-not-recorded.ts";

const LINE = /^(\S+) (\d{1,16}) ([0-9a-f]{64})$/;
/** What a full disk left of a line. Nothing was signed for it. */
const CUT_OFF = /^\S*( \d*( [0-9a-f]{0,63})?)?$/;
/** Appended bytes after which the file is written anew, with a line for each log. */
const COMPACT_AT_BYTES = 16 * 1024 ** 2;

interface Waiting {
  head: Head;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * The newest head that was signed of each log, in a file of the data directory: `<origin> <size> <root, hex>` on each line, the last line of
 * a log counts. It is outside the database so that a database that was set back is found. A head is on the disk before its signature
 * leaves. Heads that are signed while the disk writes are written together the next time.
 */
export class SignedHeads {
  readonly #path: string;
  readonly #newest: Map<string, Head>;
  #file: FileHandle;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;
  #appended = 0;

  private constructor(path: string, newest: Map<string, Head>, file: FileHandle) {
    this.#path = path;
    this.#newest = newest;
    this.#file = file;
  }

  /** @throws UserError `data_directory` for a file that is damaged */
  static async open(path: string): Promise<SignedHeads> {
    const newest = await readSignedHeads(path);
    await replaceFile(path, linesOf(newest.values()));
    return new SignedHeads(path, newest, await open(path, "a", 0o600));
  }

  /** The newest of each log, all of them on the disk. */
  newest(): Head[] {
    return [...this.#newest.values()];
  }

  /**
   * Resolves when it is on the disk that a head as large as this was signed.
   * @throws HeadNotRecorded where it cannot be written: then the head must not leave
   */
  record(head: Head): Promise<void> {
    if ((this.#newest.get(head.origin)?.size ?? -1) >= head.size) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ head, resolve, reject });
      this.#writing ??= this.#write().finally(() => {
        this.#writing = null;
      });
    });
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      try {
        await this.#append(batch.map(({ head }) => head));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        const failure = new HeadNotRecorded(errorMessage(error));
        for (const { reject } of batch) reject(failure);
      }
    }
  }

  async #append(heads: readonly Head[]): Promise<void> {
    const text = linesOf(heads);
    // Begins with a new line, so that what a failed write left does not run into it.
    await this.#file.appendFile(`\n${text}`);
    await this.#file.datasync();
    for (const head of heads)
      if ((this.#newest.get(head.origin)?.size ?? -1) < head.size) this.#newest.set(head.origin, head);
    this.#appended += text.length;
    if (this.#appended > COMPACT_AT_BYTES) await this.#compact();
  }

  async #compact(): Promise<void> {
    await replaceFile(this.#path, linesOf(this.#newest.values()));
    const old = this.#file;
    this.#file = await open(this.#path, "a", 0o600);
    this.#appended = 0;
    await old.close();
  }
}

/** What the file says; nothing where there is none. Reads only. */
export async function readSignedHeads(path: string): Promise<Map<string, Head>> {
  const newest = new Map<string, Head>();
  const lines = ((await nullIfMissing(readFile(path, "utf8"))) ?? "").split("\n");
  // A line that a crash cut off was never followed by a signature.
  lines.pop();
  lines.forEach((line, index) => {
    const [, origin, size, root] = LINE.exec(line) ?? [];
    if (origin === undefined || size === undefined || root === undefined) {
      if (CUT_OFF.test(line)) return;
      throw new UserError(
        "data_directory",
        `Line ${index + 1} of ${path} is not a signed head. Restore the newest copy of the file. If there is none, move the file away: then only the object store and the agents can show whether the database was set back.`,
      );
    }
    const head = { origin, size: Number(size), rootHash: new Uint8Array(Buffer.from(root, "hex")) };
    if ((newest.get(origin)?.size ?? -1) <= head.size) newest.set(origin, head);
  });
  return newest;
}

function linesOf(heads: Iterable<Head>): string {
  let text = "";
  for (const { origin, size, rootHash } of heads)
    text += `${origin} ${size} ${Buffer.from(rootHash).toString("hex")}\n`;
  return text;
}
