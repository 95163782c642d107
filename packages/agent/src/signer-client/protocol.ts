/**
 * The protocol between the agent and the signing process: one request on each connection, and one
 * answer. Each is one byte, a uint32 (big endian) with the length of the rest, and the rest.
 */
export const OPERATION = {
  /** Answer: the 32 bytes of the public key in use. */
  current: 1,
  /** The same; makes one if there is none. */
  ensure: 2,
  /**
   * Contains 32 bytes, the public key to sign with, and the message. Answer: the signature's 64
   * bytes.
   */
  sign: 3,
  /** Answer: the 32 bytes of the next public key; makes one if there is none. */
  next: 4,
  /** Contains 64 bytes: the public key in use, and the next one, which replaces it. */
  takeNext: 5,
  /** Contains a fingerprint: of the key to use again. */
  takeBack: 6,
  /** Contains a fingerprint. */
  forget: 7,
  /** Answer: the recipient of the host's own age identity; makes one if there is none. */
  ensureIdentity: 8,
  /** Makes another identity. Answer: its recipient. */
  nextIdentity: 9,
  /** Answer: the recipients of all identities, one on each line; the host's own first. */
  recipients: 10,
  /**
   * Contains an age file's header with its MAC. Answer: a byte of OPENED, and the file key's 16
   * bytes if there is one.
   */
  openHeader: 11,
} as const;

export const OPENED = { fileKey: 0, noIdentity: 1, damaged: 2 } as const;

export const ANSWER = { done: 0, refused: 1 } as const;

/**
 * A payload of the largest envelope that anybody accepts, and the bytes that are signed around it.
 */
export const MAX_MESSAGE = 264 * 1024;
export const KEY_SIZE = 32;
const HEADER = 5;

export interface Message {
  readonly kind: number;
  readonly payload: Buffer;
}

export function encodeMessage(kind: number, payload: Uint8Array): Buffer {
  const whole = Buffer.allocUnsafe(HEADER + payload.length);
  whole.writeUInt8(kind, 0);
  whole.writeUInt32BE(payload.length, 1);
  whole.set(payload, HEADER);
  return whole;
}

/** Pieces of a stream, put together to one message. Holds no more than the longest may have. */
export class MessageReader {
  readonly #pieces: Buffer[] = [];
  #size = 0;

  /**
   * The message once it is whole, else null. @throws RangeError for one that is too long, or that
   * more follows
   */
  push(bytes: Buffer): Message | null {
    this.#size += bytes.length;
    if (this.#size > HEADER + MAX_MESSAGE) throw new RangeError("the message is too long");
    this.#pieces.push(bytes);
    if (this.#size < HEADER) return null;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces.splice(0, Infinity, whole);
    const length = whole.readUInt32BE(1);
    if (length > MAX_MESSAGE) throw new RangeError("the message is too long");
    if (whole.length > HEADER + length) throw new RangeError("something follows the message");
    return whole.length < HEADER + length
      ? null
      : { kind: whole.readUInt8(0), payload: whole.subarray(HEADER) };
  }
}
