import { mkdtemp, open, rm, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const CHUNK = 256 * 1024;

/**
 * Bytes that are written now and read once later, without being held in memory: a file without a
 * name, so it is gone however the process ends.
 */
export class TemporaryFile {
  readonly #file: FileHandle;
  #waiting: Buffer[] = [];
  #waitingSize = 0;
  #size = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async create(): Promise<TemporaryFile> {
    const directory = await mkdtemp(join(tmpdir(), "attestore-pack-"));
    try {
      return new TemporaryFile(await open(join(directory, "part"), "wx+", 0o600));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  get size(): number {
    return this.#size;
  }

  async append(bytes: Buffer): Promise<void> {
    this.#waiting.push(bytes);
    this.#waitingSize += bytes.length;
    this.#size += bytes.length;
    if (this.#waitingSize >= CHUNK) await this.#flush();
  }

  async *read(): AsyncGenerator<Buffer> {
    await this.#flush();
    for (let at = 0; at < this.#size;) {
      const { bytesRead, buffer } = await this.#file.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, at);
      if (bytesRead === 0) throw new Error("a temporary file is shorter than what was written to it");
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingSize = 0;
    for (let at = 0; at < bytes.length;) {
      const { bytesWritten } = await this.#file.write(bytes, at);
      at += bytesWritten;
    }
  }
}
