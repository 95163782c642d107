/**
 * Identifiers are TypeIDs: `<prefix>_` and a UUIDv7 (RFC 9562 section 5.7) as 26 characters of
 * lower-case Crockford base32 (TypeID specification 0.3). They sort by the millisecond in which
 * they were made.
 */
const PREFIXES = {
  org: "org",
  user: "user",
  agent: "agent",
  authKey: "key",
  bootstrap: "boot",
  source: "src",
  backup: "bkp",
  receipt: "rcpt",
  event: "evt",
  command: "cmd",
  apiLog: "log",
  request: "req",
  upload: "upl",
  channel: "chan",
  notification: "ntf",
  delivery: "dlv",
  auditorLink: "link",
  passkey: "psk",
  configRequest: "cfg",
} as const;

/** The kinds of thing that an identifier names. */
export type IdKind = keyof typeof PREFIXES;

export const ID_KINDS = Object.keys(PREFIXES) as readonly IdKind[];

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** The two-character spelling of each 10-bit value. */
const PAIRS = Array.from({ length: 1024 }, (_, n) => `${ALPHABET[n >> 5]}${ALPHABET[n & 31]}`);
const SUFFIX_PATTERN = "[0-7][0-9a-hjkmnp-tv-z]{25}";

/** The regular expression for one kind of identifier, as JSON Schema's `pattern`. */
export function idPattern(kind: IdKind): string {
  return `^${PREFIXES[kind]}_${SUFFIX_PATTERN}$`;
}

const compiled = Object.fromEntries(ID_KINDS.map((kind) => [kind, new RegExp(idPattern(kind))])) as Record<
  IdKind,
  RegExp
>;

/** Whether `text` is exactly one identifier of the kind. */
export function isId(kind: IdKind, text: string): boolean {
  return compiled[kind].test(text);
}

/** A new identifier. `now` is milliseconds since 1970; the remaining 74 bits are random. */
export function newId(kind: IdKind, now: number = Date.now()): string {
  return `${PREFIXES[kind]}_${encode(uuidv7(now))}`;
}

/**
 * Returns the smallest identifier of its kind for this millisecond, so that a period is a range of
 * identifiers. Any moment before 1970 gives the smallest of all.
 */
export function firstIdAt(kind: IdKind, now: number): string {
  const bytes = new Uint8Array(16);
  writeTime(bytes, Math.max(0, now));
  return `${PREFIXES[kind]}_${encode(bytes)}`;
}

/** Milliseconds since 1970, of an identifier of any kind. */
export function timeOfId(id: string): number {
  const digits = id.slice(-26, -16);
  return Array.from(digits).reduce((time, digit) => time * 32 + ALPHABET.indexOf(digit), 0);
}

/**
 * Random bytes for some hundred identifiers at a time: each draw costs more than everything else
 * here.
 */
const randomness = new Uint8Array(4000);
let used = randomness.length;

function uuidv7(now: number): Uint8Array {
  if (used === randomness.length) {
    crypto.getRandomValues(randomness);
    used = 0;
  }
  const bytes = new Uint8Array(16);
  bytes.set(randomness.subarray(used, used + 10), 6);
  used += 10;
  const view = writeTime(bytes, now);
  view.setUint8(6, 0x70 | (view.getUint8(6) & 0x0f));
  view.setUint8(8, 0x80 | (view.getUint8(8) & 0x3f));
  return bytes;
}

function writeTime(bytes: Uint8Array, now: number): DataView {
  const view = new DataView(bytes.buffer);
  view.setUint16(0, Math.floor(now / 2 ** 32));
  view.setUint32(2, now % 2 ** 32);
  return view;
}

function encode(bytes: Uint8Array): string {
  let text = "";
  let buffer = 0;
  // 26 characters of 5 bits are 13 pairs. They hold 128 bits after two leading zero bits.
  let bits = 2;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0x3ffff;
    bits += 8;
    if (bits >= 10) {
      bits -= 10;
      text += PAIRS[(buffer >> bits) & 1023];
    }
  }
  return text;
}
