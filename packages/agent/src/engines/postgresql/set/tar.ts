const BLOCK = 512;
/** Eleven octal digits. */
const MAX_OCTAL = 8 ** 11 - 1;

/**
 * Makes a ustar header (POSIX.1-1988) of a regular file of mode 0600. A size of 8 GiB or more is in
 * base 256, which GNU tar writes and every tar reads. `name` is ASCII, at most 100 bytes.
 */
export function tarHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  if (header.write(name, 0, 100, "latin1") !== name.length)
    throw new Error("a name is too long for a header");
  header.write(`0000600\0${"0000000\0".repeat(2)}`, 100, "latin1");
  if (size <= MAX_OCTAL) {
    header.write(`${size.toString(8).padStart(11, "0")}\0`, 124, "latin1");
  } else {
    header[124] = 0x80;
    header.writeBigUInt64BE(BigInt(size), 128);
  }
  header.write(`${"0".repeat(11)}\0        0`, 136, "latin1");
  header.write("ustar\x0000", 257, "latin1");
  header.write(`${checksum(header).toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

export function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

export function tarEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK);
}

function checksum(header: Buffer): number {
  // The sum over the header with spaces in place of the checksum.
  let sum = 8 * 0x20;
  for (const byte of header) sum += byte;
  for (const byte of header.subarray(148, 156)) sum -= byte;
  return sum;
}

export class MalformedSet extends Error {
  readonly code = "set_malformed";
  constructor(message: string) {
    super(message);
    this.name = "MalformedSet";
  }
}

export interface TarEntry {
  readonly name: string;
  readonly size: number;
  /** Read it to its end before requesting the next entry; otherwise the rest is skipped. */
  readonly content: AsyncIterable<Buffer>;
}

/**
 * Yields the entries of an archive with headers from `tarHeader`, and reads the content to its end.
 * @throws MalformedSet for everything else, and if something follows the end; any error from the
 * content.
 */
export async function* tarEntries(content: AsyncIterable<Buffer>): AsyncGenerator<TarEntry, void, undefined> {
  const bytes = new Pieces(content);
  for (;;) {
    const header = await bytes.exactly(BLOCK);
    if (isZero(header)) break;
    const { name, size } = parseHeader(header);
    let left = size;
    const body = (async function* () {
      while (left > 0) {
        const piece = await bytes.upTo(left);
        left -= piece.length;
        yield piece;
      }
    })();
    yield { name, size, content: body };
    while (left > 0) left -= (await bytes.upTo(left)).length;
    await bytes.exactly((BLOCK - (size % BLOCK)) % BLOCK);
  }
  if (!isZero(await bytes.exactly(BLOCK))) throw new MalformedSet("the archive does not end as it should");
  if (await bytes.hasMore()) throw new MalformedSet("there is data after the archive's end");
}

function isZero(block: Buffer): boolean {
  return block.equals(Buffer.alloc(block.length));
}

/** Accepts only what `tarHeader` writes: it makes the expected header and compares. */
function parseHeader(header: Buffer): { name: string; size: number } {
  const end = header.indexOf(0);
  const name = header.toString("latin1", 0, end === -1 || end > 100 ? 100 : end);
  const size =
    header[124] === 0x80
      ? Number(header.readBigUInt64BE(128))
      : Number.parseInt(header.toString("latin1", 124, 135), 8);
  if (!Number.isSafeInteger(size) || size < 0 || name === "")
    throw new MalformedSet("an entry's header is not one that a set has");
  if (!tarHeader(name, size).equals(header))
    throw new MalformedSet("an entry's header is not one that a set has");
  return { name, size };
}

/** Reads exact numbers of bytes from pieces of any length. */
class Pieces {
  readonly #pieces: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(content: AsyncIterable<Buffer>) {
    this.#pieces = content[Symbol.asyncIterator]();
  }

  /** At least one byte, valid until the next call. */
  async upTo(length: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const next = await this.#pieces.next();
      if (next.done === true) throw new MalformedSet("the archive ends too early");
      this.#rest = next.value;
    }
    const piece = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }

  async exactly(length: number): Promise<Buffer> {
    const all = Buffer.alloc(length);
    for (let at = 0; at < length;) at += (await this.upTo(length - at)).copy(all, at);
    return all;
  }

  async hasMore(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const next = await this.#pieces.next();
      if (next.done === true) return false;
      this.#rest = next.value;
    }
    return true;
  }

  /** Reads the rest of the archive, because only its end tells whether it was complete. */
  async drain(): Promise<void> {
    while ((await this.#pieces.next()).done !== true);
  }
}
