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
 * words, dates, addresses, slugs, names in code and UUIDs do not. Whoever knows these rules can
 * write ciphertext that looks like prose.
 */
export function looksRandom(value: string): boolean {
  if (value.length < MIN_LENGTH) return false;
  if (MARKS.some((mark) => value.startsWith(mark))) return true;
  const text = value.slice(0, LOOKED_AT).replaceAll(/[\r\n]/g, "");
  if (UUID.test(text)) return false;
  const counts = countsOf(text);
  if (counts.control * 20 >= text.length) return true;
  const run = (text.match(RUN) ?? []).reduce((most, each) => (each.length > most.length ? each : most), "");
  if (run.length >= MIN_LENGTH && run.length * 10 >= text.length * 6) return isRandomRun(run);
  return isRandomPrintable(counts);
}

function isRandomRun(run: string): boolean {
  const hex = run.replace(/^0?x/i, "");
  const counts = countsOf(run);
  if (HEX.test(hex)) {
    const { upper, lower, digit, changes, length } = countsOf(hex.toLowerCase());
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

function countsOf(text: string): Counts {
  let [upper, lower, digit, space, other, control, changes, capitals] = [0, 0, 0, 0, 0, 0, 0, 0];
  const signs = new Set<number>();
  let before = "";
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = kindOf(code);
    if (kind === "upper") upper += 1;
    else if (kind === "lower") lower += 1;
    else if (kind === "digit") digit += 1;
    else if (kind === "space") space += 1;
    else if (kind === "control") control += 1;
    else {
      other += 1;
      signs.add(code);
    }
    if (at > 0 && kind !== before) changes += 1;
    if (kind === "upper" && before === "upper") capitals += 1;
    before = kind;
  }
  return {
    length: text.length,
    upper,
    lower,
    digit,
    space,
    other,
    control,
    changes,
    capitals,
    signs: signs.size,
  };
}

type Kind = "upper" | "lower" | "digit" | "space" | "control" | "other";

function kindOf(code: number): Kind {
  if (code >= 97 && code <= 122) return "lower";
  if (code >= 65 && code <= 90) return "upper";
  if (code >= 48 && code <= 57) return "digit";
  if (code === 32 || code === 9) return "space";
  if (code < 32 || (code >= 127 && code < 160)) return "control";
  return code > 160 ? "lower" : "other";
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

/** Bits in a character, by how often each is in this text. */
export function entropyOf(text: string): number {
  const counts = new Map<number, number>();
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
