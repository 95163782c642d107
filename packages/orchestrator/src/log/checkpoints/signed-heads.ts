import { open, readFile, type FileHandle } from "node:fs/promises";
import { replaceFile } from "@attestore/host/durable-files";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { errorMessage } from "@attestore/host/errno";
import { UserError } from "../../platform/errors/user-error.ts";
import type { Head } from "./checkpoint-signer.ts";
import { HeadNotRecorded } from "./head-not-recorded.ts";

const LINE = /^(\S+) (\d{1,16}) ([0-9a-f]{64})$/;
/** The rest of a line that a full disk cut off. Nothing was signed for it. */
const CUT_OFF = /^\S*( \d*( [0-9a-f]{0,63})?)?$/;
/** After this many appended bytes the file is rewritten, with one line per log. */
const COMPACT_AT_BYTES = 16 * 1024 ** 2;

interface Waiting {
  head: Head;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * The newest signed head of each log, in a file of the data directory. Each line is `<origin>
 * <size> <root, hex>`, and a log's last line counts. The file is outside the database, so it
 * reveals a database that was set back. A head is on disk before its signature is sent. Heads that
 * are signed during a write are written together in the next one.
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

  /** The newest head of each log, all of them on disk. */
  newest(): Head[] {
    return [...this.#newest.values()];
  }

  /** The newest head of one log, on disk. */
  newestOf(origin: string): Head | null {
    return this.#newest.get(origin) ?? null;
  }

  /**
   * Resolves once a head at least this large is on disk.
   * @throws HeadNotRecorded if it cannot be written; then the signature must not be sent
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
    // Starts with a line feed, so that the rest of a failed write does not run into it.
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

/** Reads the file; empty if there is none. */
export async function readSignedHeads(path: string): Promise<Map<string, Head>> {
  const newest = new Map<string, Head>();
  const lines = ((await nullIfMissing(readFile(path, "utf8"))) ?? "").split("\n");
  // No signature was sent for a line that a crash cut off.
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
