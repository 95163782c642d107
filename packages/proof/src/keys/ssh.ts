import { sha256 } from "#sha256";
import { fromBase64, toBase64 } from "../base64.ts";
import { concatBytes, equalBytes, utf8 } from "../bytes.ts";
import { ProofError } from "../proof-error.ts";
import { p256Point, publicKeyFromBytes, publicKeyFromP256Point, type PublicKey } from "./public-key.ts";

const ED25519 = "ssh-ed25519";
const P256 = "ecdsa-sha2-nistp256";
const P256_CURVE = "nistp256";

/**
 * `SHA256:` and the unpadded base64 of SHA-256 of the SSH wire form, as `ssh-keygen -lf` prints it.
 */
export function sshFingerprint(key: PublicKey): string {
  return `SHA256:${toBase64(sha256(sshWire(key))).replace(/=+$/, "")}`;
}

/** One line of an `authorized_keys` or `.pub` file, without a comment. */
export function formatSshLine(key: PublicKey): string {
  return `${key.algorithm === "ed25519" ? ED25519 : P256} ${toBase64(sshWire(key))}`;
}

/** `<type> <base64> [comment]`, no options before it. Throws `malformed_key`. */
export function parseSshLine(line: string): PublicKey {
  const text = line.trim();
  // With two keys in the text, one would silently win.
  if (/[\r\n]/.test(text))
    throw new ProofError("malformed_key", "an OpenSSH key is one line, but there are more");
  const [type, encoded] = text.split(/[ \t]+/);
  if ((type !== ED25519 && type !== P256) || encoded === undefined)
    throw new ProofError("malformed_key", `not an ${ED25519} or ${P256} line`);
  let fields: Uint8Array[];
  try {
    fields = readStrings(fromBase64(encoded));
  } catch {
    throw new ProofError("malformed_key", "the SSH key's base64 or its fields are malformed");
  }
  const [named, second, third, ...more] = fields;
  const is = (field: Uint8Array | undefined, text: string): boolean =>
    field !== undefined && equalBytes(field, utf8(text));
  if (more.length === 0 && is(named, type)) {
    if (type === ED25519 && second?.length === 32 && third === undefined) return publicKeyFromBytes(second);
    if (type === P256 && is(second, P256_CURVE) && third !== undefined) return publicKeyFromP256Point(third);
  }
  throw new ProofError("malformed_key", "the SSH key's fields are not those of its type");
}

/** RFC 4253 section 6.6, RFC 8709 section 4, RFC 5656 section 3.1. */
function sshWire(key: PublicKey): Uint8Array {
  return key.algorithm === "ed25519"
    ? concatBytes(sshString(utf8(ED25519)), sshString(key.bytes))
    : concatBytes(sshString(utf8(P256)), sshString(utf8(P256_CURVE)), sshString(p256Point(key)));
}

function sshString(bytes: Uint8Array): Uint8Array {
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, bytes.length);
  return concatBytes(length, bytes);
}

function readStrings(wire: Uint8Array): Uint8Array[] {
  const strings: Uint8Array[] = [];
  const view = new DataView(wire.buffer, wire.byteOffset, wire.byteLength);
  for (let offset = 0; offset < wire.length;) {
    const start = offset + 4;
    if (start > wire.length) throw new ProofError("malformed_key", "the SSH key is cut short");
    offset = start + view.getUint32(offset);
    if (offset > wire.length) throw new ProofError("malformed_key", "the SSH key is cut short");
    strings.push(wire.slice(start, offset));
  }
  return strings;
}
