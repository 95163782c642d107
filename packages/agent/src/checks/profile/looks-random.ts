/** Shorter values are too often random by chance. */
const MIN_LENGTH = 24;
/** Only the start of a value is looked at. */
export const LOOKED_AT = 256;

const MARKS = [
  "-----BEGIN PGP MESSAGE",
  "age-encryption.org/",
  "-----BEGIN AGE ENCRYPTED",
  "U2FsdGVkX1",
  "$ANSIBLE_VAULT",
];
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const RUN = /[A-Za-z0-9+/=_-]+/g;
const HEX = /^[0-9a-f]+$/i;

/**
 * Whether a text looks like ciphertext: base64, hex, bytes as text, or a known envelope. People's
 * words, dates, addresses, slugs, names in code and UUIDs do not. An attacker who knows these rules
 * can write ciphertext that looks like prose.
 */
export function looksRandom(value: string): boolean {
  if (value.length < MIN_LENGTH) return false;
  if (MARKS.some((mark) => value.startsWith(mark))) return true;
  const text = value.slice(0, LOOKED_AT).replaceAll(/[\r\n]/g, "");
  if (UUID.test(text)) return false;
  const counts = countsOf(text);
  if (counts.control * 20 >= text.length) return true;
  const run = (text.match(RUN) ?? []).reduce((most, each) => (each.length > most.length ? each : most), "");
  if (run.length >= MIN_LENGTH && run.length * 10 >= text.length * 6)
    return isRandomRun(run, run.length === text.length ? counts : countsOf(run));
  return isRandomPrintable(counts);
}

function isRandomRun(run: string, counts: Counts): boolean {
  const hex = run.replace(/^0?x/i, "");
  if (HEX.test(hex)) {
    const isAsIs = hex.length === run.length && counts.upper === 0;
    const { upper, lower, digit, changes, length } = isAsIs ? counts : countsOf(hex.toLowerCase());
    const letters = (upper + lower) / length;
    return length >= 32 && digit > 0 && letters > 0.15 && letters < 0.65 && changes >= 0.25 * length;
  }
  return isMixed(counts, 0.15) && counts.digit > 0 && counts.changes >= 0.45 * (run.length - 1);
}

/** As in base85: letters of both cases and many different signs, without a space. */
function isRandomPrintable(counts: Counts): boolean {
  const { space, other, signs, changes, length } = counts;
  return (
    space === 0 &&
    isMixed(counts, 0.1) &&
    signs >= 6 &&
    other >= 0.15 * length &&
    other <= 0.6 * length &&
    changes >= 0.55 * (length - 1)
  );
}

/** Two capitals in a row: unlike in `getUserById`. */
function isMixed({ upper, lower, capitals, length }: Counts, share: number): boolean {
  return upper >= share * length && lower >= share * length && capitals > 0;
}

interface Counts {
  readonly length: number;
  readonly upper: number;
  readonly lower: number;
  readonly digit: number;
  readonly space: number;
  readonly other: number;
  readonly control: number;
  /** Neighbours of different kinds. */
  readonly changes: number;
  /** Neighbours that are both capitals. */
  readonly capitals: number;
  /** Different characters that are neither letters, digits nor spaces. */
  readonly signs: number;
}

const [LOWER, UPPER, DIGIT, SPACE, CONTROL, OTHER] = [0, 1, 2, 3, 4, 5];
/** By the character's code; all later ones are letters. Without a JIT, a look-up is much faster. */
const KINDS = Uint8Array.from({ length: 161 }, (_, code) => kindOf(code));

function countsOf(text: string): Counts {
  const kinds = [0, 0, 0, 0, 0, 0];
  let [changes, capitals, before] = [0, 0, -1];
  let signs: Set<number> | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = KINDS[code] ?? LOWER;
    kinds[kind] = (kinds[kind] ?? 0) + 1;
    if (kind !== before) changes += 1;
    else if (kind === UPPER) capitals += 1;
    if (kind === OTHER) (signs ??= new Set()).add(code);
    before = kind;
  }
  const [lower = 0, upper = 0, digit = 0, space = 0, control = 0, other = 0] = kinds;
  return {
    length: text.length,
    upper,
    lower,
    digit,
    space,
    other,
    control,
    // The first character has no neighbour before it.
    changes: Math.max(0, changes - 1),
    capitals,
    signs: signs?.size ?? 0,
  };
}

function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return LOWER;
  if (code >= 65 && code <= 90) return UPPER;
  if (code >= 48 && code <= 57) return DIGIT;
  if (code === 32 || code === 9) return SPACE;
  return code < 32 || (code >= 127 && code < 160) ? CONTROL : OTHER;
}

/** Starts of files that are dense and not encrypted: ZIP, gzip, PNG, JPEG, PDF, RIFF, zstd, xz. */
const DENSE = /^(?:504b0304|1f8b|89504e47|ffd8ff|25504446|52494646|28b52ffd|fd377a58)/;

/** The same for bytes, in hex. */
export function looksRandomBytes(hex: string): boolean {
  const bytes = Buffer.from(hex.slice(0, 2 * LOOKED_AT), "hex");
  if (bytes.length < 32 || DENSE.test(hex)) return false;
  const full = Math.log2(bytes.length);
  return entropyOf(bytes.toString("latin1")) >= full - 0.2 - (0.8 * bytes.length) / LOOKED_AT;
}

/** All zero between two calls: without a JIT, a Map for each text would take longer. */
const COUNTS = new Uint32Array(256);
/** How much larger the sum of `n * log2(n)` becomes when a count grows from its index by one. */
const STEPS = Float64Array.from({ length: LOOKED_AT + 1 }, (_, n) => xLogX(n + 1) - xLogX(n));

/** Bits in a character, by how often each is in this text. */
export function entropyOf(text: string): number {
  const { length } = text;
  if (length === 0) return 0;
  let later: Map<number, number> | null = null;
  let sum = 0;
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at);
    const known = COUNTS[code];
    const count = known ?? later?.get(code) ?? 0;
    if (known === undefined) (later ??= new Map()).set(code, count + 1);
    else COUNTS[code] = count + 1;
    sum += STEPS[count] ?? xLogX(count + 1) - xLogX(count);
  }
  COUNTS.fill(0);
  return Math.max(0, Math.log2(length) - sum / length);
}

function xLogX(n: number): number {
  return n === 0 ? 0 : n * Math.log2(n);
}
