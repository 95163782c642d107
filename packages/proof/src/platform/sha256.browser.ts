/*
 * FIPS 180-4. Written out because WebCrypto's digest is asynchronous and a Merkle tree needs a
 * synchronous function.
 */

const primes = (count: number): number[] => {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every((p) => n % p !== 0)) found.push(n);
  return found;
};

/**
 * The first 32 bits of the root's fractional part. A double's 53 bits hold 32 exact ones for these
 * roots.
 */
const fraction = (root: number): number => ((root - Math.floor(root)) * 2 ** 32) | 0;

const ROUND = Int32Array.from(primes(64), (p) => fraction(Math.cbrt(p)));
const INITIAL = Int32Array.from(primes(8), (p) => fraction(Math.sqrt(p)));

const rotate = (x: number, n: number): number => (x >>> n) | (x << (32 - n));

const BLOCK = 64;
const at = (array: Int32Array, i: number): number => array[i] ?? 0;

/** SHA-256 (FIPS 180-4): 32 bytes. Synchronous, which the browser's own is not. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const hash = new Sha256();
  hash.update(bytes);
  return hash.digest();
}

/** The digest of bytes that come some at a time. */
export class Sha256 {
  readonly #state = Int32Array.from(INITIAL);
  readonly #w = new Int32Array(64);
  /** What does not fill a block yet. */
  readonly #rest = new Uint8Array(BLOCK);
  #length = 0;

  update(bytes: Uint8Array): void {
    let from = 0;
    const held = this.#length % BLOCK;
    this.#length += bytes.length;
    if (held > 0) {
      from = Math.min(BLOCK - held, bytes.length);
      this.#rest.set(bytes.subarray(0, from), held);
      if (held + from < BLOCK) return;
      this.#compress(this.#rest, 0);
    }
    for (; from + BLOCK <= bytes.length; from += BLOCK) this.#compress(bytes, from);
    this.#rest.set(bytes.subarray(from));
  }

  /** Ends it. */
  digest(): Uint8Array {
    const bits = BigInt(this.#length) * 8n;
    const padding = new Uint8Array(BLOCK - ((this.#length + 8) % BLOCK) + 8);
    padding[0] = 0x80;
    new DataView(padding.buffer).setBigUint64(padding.length - 8, bits);
    this.update(padding);
    const digest = new DataView(new ArrayBuffer(32));
    this.#state.forEach((word, i) => {
      digest.setInt32(i * 4, word);
    });
    return new Uint8Array(digest.buffer);
  }

  #compress(bytes: Uint8Array, block: number): void {
    const [state, w] = [this.#state, this.#w];
    const message = new DataView(bytes.buffer, bytes.byteOffset + block, BLOCK);
    for (let i = 0; i < 16; i++) w[i] = message.getInt32(i * 4);
    for (let i = 16; i < 64; i++) {
      const w15 = at(w, i - 15);
      const w2 = at(w, i - 2);
      const s0 = rotate(w15, 7) ^ rotate(w15, 18) ^ (w15 >>> 3);
      const s1 = rotate(w2, 17) ^ rotate(w2, 19) ^ (w2 >>> 10);
      w[i] = at(w, i - 16) + s0 + at(w, i - 7) + s1;
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (let i = 0; i < 64; i++) {
      const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + at(ROUND, i) + at(w, i)) | 0;
      const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => {
      state[i] = at(state, i) + word;
    });
  }
}
