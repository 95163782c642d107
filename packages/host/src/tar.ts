/** The tar format (POSIX.1-1988, ustar), as far as archives of our own use it. */
export const TAR_BLOCK = 512;
/** Eleven octal digits. */
const MAX_OCTAL = 8 ** 11 - 1;

export interface TarHeader {
  readonly name: string;
  readonly size: number;
  readonly modified: Date;
}

/**
 * Makes the header of a regular file of mode 0600. A size of 8 GiB or more is in base 256, which
 * GNU tar writes and every tar reads. `name` is ASCII, at most 100 bytes.
 */
export function tarHeader(name: string, size: number, modified = new Date(0)): Buffer {
  const header = Buffer.alloc(TAR_BLOCK);
  if (header.write(name, 0, 100, "latin1") !== name.length)
    throw new Error("a name is too long for a header");
  header.write(`0000600\0${"0000000\0".repeat(2)}`, 100, "latin1");
  if (size <= MAX_OCTAL) {
    header.write(`${octal(size, 11)}\0`, 124, "latin1");
  } else {
    header[124] = 0x80;
    header.writeBigUInt64BE(BigInt(size), 128);
  }
  header.write(`${octal(Math.floor(modified.getTime() / 1000), 11)}\0        0`, 136, "latin1");
  header.write("ustar\x0000", 257, "latin1");
  header.write(`${octal(checksum(header), 6)}\0 `, 148, "latin1");
  return header;
}

export function tarPadding(size: number): Buffer {
  return Buffer.alloc((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);
}

export function tarEnd(): Buffer {
  return Buffer.alloc(2 * TAR_BLOCK);
}

/** Null for every header that `tarHeader` would write otherwise, or not at all. */
export function parseTarHeader(header: Buffer): TarHeader | null {
  const end = header.indexOf(0);
  const name = header.toString("latin1", 0, end === -1 || end > 100 ? 100 : end);
  const size =
    header[124] === 0x80
      ? Number(header.readBigUInt64BE(128))
      : Number.parseInt(header.toString("latin1", 124, 135), 8);
  const modified_s = Number.parseInt(header.toString("latin1", 136, 147), 8);
  if (!Number.isSafeInteger(size) || size < 0 || !(modified_s >= 0) || name === "") return null;
  const modified = new Date(modified_s * 1000);
  return tarHeader(name, size, modified).equals(header) ? { name, size, modified } : null;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

function checksum(header: Buffer): number {
  // The sum over the header with spaces in place of the checksum.
  let sum = 8 * 0x20;
  for (const byte of header) sum += byte;
  for (const byte of header.subarray(148, 156)) sum -= byte;
  return sum;
}

/** Reads exact numbers of bytes from pieces of any length. */
export class ExactReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #endsTooEarly: () => Error;
  #rest: Buffer = Buffer.alloc(0);

  /** `endsTooEarly` is thrown if there are fewer bytes than are asked for. */
  constructor(content: AsyncIterable<Uint8Array>, endsTooEarly: () => Error) {
    this.#pieces = content[Symbol.asyncIterator]();
    this.#endsTooEarly = endsTooEarly;
  }

  /** At least one byte, valid until the next call. */
  async upTo(length: number): Promise<Buffer> {
    if (!(await this.hasMore())) throw this.#endsTooEarly();
    const piece = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }

  async exactly(length: number): Promise<Buffer> {
    const all = Buffer.allocUnsafe(length);
    for (let at = 0; at < length;) at += (await this.upTo(length - at)).copy(all, at);
    return all;
  }

  /** At the end, only this says that all before it is authentic and whole. */
  async hasMore(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const next = await this.#pieces.next();
      if (next.done === true) return false;
      const { buffer, byteOffset, byteLength } = next.value;
      this.#rest = Buffer.from(buffer, byteOffset, byteLength);
    }
    return true;
  }
}
