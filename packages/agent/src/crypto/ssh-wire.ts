/**
 * Reads the length-prefixed fields of SSH's wire form (RFC 4251 section 5). Strict and bounded:
 * null for anything else.
 */
export class SshReader {
  #rest: Buffer;

  constructor(bytes: Buffer) {
    this.#rest = bytes;
  }

  get isAtEnd(): boolean {
    return this.#rest.length === 0;
  }

  uint32(): number | null {
    if (this.#rest.length < 4) return null;
    const value = this.#rest.readUInt32BE(0);
    this.#rest = this.#rest.subarray(4);
    return value;
  }

  string(): Buffer | null {
    const length = this.uint32();
    if (length === null || length > this.#rest.length) return null;
    const value = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return value;
  }

  text(): string | null {
    return this.string()?.toString("latin1") ?? null;
  }

  /** A positive integer in its shortest form, without its sign byte. */
  positiveInteger(): Buffer | null {
    const bytes = this.string();
    if (bytes === null || bytes.length === 0) return null;
    const [first = 0, second = 0] = bytes;
    if (first >= 0x80) return null;
    if (first !== 0) return bytes;
    // A leading zero is there only to keep the number positive.
    return bytes.length > 1 && second >= 0x80 ? bytes.subarray(1) : null;
  }

  rest(): Buffer {
    return this.#rest;
  }
}

export function sshString(bytes: Uint8Array | string): Buffer {
  const value = Buffer.from(bytes as Uint8Array);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(value.length);
  return Buffer.concat([length, value]);
}

/** Standard base64 with its padding, or null: Buffer.from alone takes anything. */
export function strictBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : null;
}
