import { UserError } from "../../platform/errors/user-error.ts";

/**
 * The little of the tar format (POSIX.1-1988, ustar) that a backup of the service uses: plain files
 * with short names, which any `tar` extracts.
 */
const BLOCK = 512;
/** Large enough that headers don't count, small enough to hold. */
export const PIECE_BYTES = 8 * 1024 * 1024;
const NAME = /^(?:[a-z][a-zA-Z0-9_-]*\/)?[a-zA-Z][a-zA-Z0-9._-]{0,60}$/;

export interface TarEntry {
  /** Such as `keys/log-signing.pem`: at most one directory, no `..`. */
  name: string;
  /** At most PIECE_BYTES. */
  content: Buffer;
}

export async function* writeTar(
  entries: AsyncIterable<TarEntry>,
  modified: Date,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const { name, content } of entries) {
    if (!NAME.test(name) || content.length > PIECE_BYTES)
      throw new Error(`${name} (${content.length} bytes) is not an entry of a backup`);
    yield header(name, content.length, modified);
    yield content;
    yield Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
  }
  yield Buffer.alloc(2 * BLOCK);
}

function header(name: string, size: number, modified: Date): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void => {
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  };
  block.write(name, 0, "latin1");
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(Math.floor(modified.getTime() / 1000), 136, 12);
  block.write("        0", 148, "latin1"); // the checksum counts as spaces; "0" is a plain file
  block.write("ustar\0" + "00", 257, "latin1");
  octal(checksum(block), 148, 7);
  return block;
}

function checksum(block: Buffer): number {
  return block.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

/**
 * The entries of an archive of writeTar, one after the other. Anything else is refused: anybody who
 * knows the recipient can have made the file.
 * @throws UserError `invalid_argument`
 */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void, undefined> {
  const bytes = new Take(source);
  for (;;) {
    const block = await bytes.take(BLOCK);
    if (block.every((byte) => byte === 0)) break;
    const { name, size } = readHeader(block);
    const content = await bytes.take(size);
    const padding = await bytes.take((BLOCK - (size % BLOCK)) % BLOCK);
    if (padding.some((byte) => byte !== 0)) throw notOurs("bytes between two entries");
    yield { name, content };
  }
  if ((await bytes.take(BLOCK)).some((byte) => byte !== 0)) throw notOurs("bytes after the last entry");
  if (!(await bytes.isAtEnd())) throw notOurs("bytes after the end");
}

function readHeader(block: Buffer): { name: string; size: number } {
  const name = block.toString("latin1", 0, 100).replace(/\0+$/, "");
  const size = /^[0-7]{11}\0$/.exec(block.toString("latin1", 124, 136)) === null ? Number.NaN : sizeOf(block);
  if (!NAME.test(name)) throw notOurs("an entry with a strange name");
  if (!(size <= PIECE_BYTES)) throw notOurs(`the size of ${name}`);
  const isPlain = block.toString("latin1", 156, 157) === "0" && block.toString("latin1", 157, 263) === MAGIC;
  if (!isPlain || Number.parseInt(block.toString("latin1", 148, 154), 8) !== checksum(block))
    throw notOurs(`the header of ${name}`);
  return { name, size };
}

/** No name that a link points to, then ustar's mark. */
const MAGIC = `${"\0".repeat(100)}ustar\0`;

function sizeOf(block: Buffer): number {
  return Number.parseInt(block.toString("latin1", 124, 135), 8);
}

export function notOurs(what: string): UserError {
  return new UserError("invalid_argument", `This is not a backup of attestore-server: ${what}.`);
}

/** Takes exactly that many bytes from a stream of pieces. */
class Take {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#pieces = source[Symbol.asyncIterator]();
  }

  async take(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let missing = length;
    while (missing > 0) {
      if (this.#rest.length === 0 && !(await this.#next())) throw notOurs("it ends too early");
      const part = this.#rest.subarray(0, missing);
      parts.push(part);
      this.#rest = this.#rest.subarray(part.length);
      missing -= part.length;
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }

  /** Reads to the end, which alone says that all before it is authentic and whole. */
  async isAtEnd(): Promise<boolean> {
    return this.#rest.length === 0 && !(await this.#next());
  }

  async #next(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#pieces.next();
      if (done === true) return false;
      if (value.length === 0) continue;
      this.#rest = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      return true;
    }
  }
}
