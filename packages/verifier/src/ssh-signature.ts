import { hash } from "node:crypto";
import {
  concatBytes,
  equalBytes,
  fromBase64,
  parsePublicKeyFile,
  ProofError,
  type PublicKey,
  toBase64,
  utf8,
  verifySignature,
} from "@attestore/proof";
import { CannotTell } from "./cannot-tell.ts";

/**
 * The namespace for `ssh-keygen -Y sign -n`: a signature for one purpose does not count for
 * another.
 */
export const KEY_LIST_NAMESPACE = "attestore-keys";

const MAGIC = utf8("SSHSIG");
const ARMOR = /^-----BEGIN SSH SIGNATURE-----\r?\n([A-Za-z0-9+/=\r\n]+)\r?\n-----END SSH SIGNATURE-----\s*$/;
const HASHES = ["sha256", "sha512"];

/**
 * Requires an OpenSSH signature (PROTOCOL.sshsig) by this Ed25519 key over a list of keys. Throws
 * CannotTell: an unsigned list says nothing, so it makes no receipt false.
 */
export async function requireSshSignature(
  path: string,
  armored: string,
  message: Uint8Array,
  owner: PublicKey,
): Promise<void> {
  try {
    if (owner.algorithm !== "ed25519") refuse("an owner's key must be an Ed25519 key");
    const blob = fromBase64(
      (ARMOR.exec(armored.trim())?.[1] ?? refuse("not an SSH signature")).replace(/[\r\n]/g, ""),
    );
    const reader = new Reader(blob);
    if (!equalBytes(reader.take(MAGIC.length), MAGIC) || reader.number() !== 1)
      refuse("it is not an SSH signature of version 1");
    const key = reader.string();
    const namespace = text(reader.string());
    const reserved = reader.string();
    const hashName = text(reader.string());
    const signature = new Reader(reader.string());
    const [algorithm, bytes] = [text(signature.string()), signature.string()];
    reader.end();
    signature.end();
    if (!equalBytes(parsePublicKeyFile(`ssh-ed25519 ${toBase64(key)}`).bytes, owner.bytes))
      refuse("it was made with another key than the owner key that you gave");
    if (namespace !== KEY_LIST_NAMESPACE)
      refuse(
        `it was made for "${namespace.slice(0, 60)}": sign with ssh-keygen -Y sign -n ${KEY_LIST_NAMESPACE}`,
      );
    if (algorithm !== "ssh-ed25519" || !HASHES.includes(hashName)) refuse("its algorithms are not supported");
    const digest = hash(hashName, message, "buffer");
    const signed = concatBytes(
      MAGIC,
      ...[utf8(namespace), reserved, utf8(hashName), new Uint8Array(digest)].map(sshString),
    );
    if (!(await verifySignature(owner, signed, bytes)))
      refuse("the signature is not valid: the list is not what the owner signed");
  } catch (error) {
    if (error instanceof ProofError) throw new CannotTell("key_unreadable", `${path}: ${error.message}`);
    throw error;
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  take(count: number): Uint8Array {
    if (count > this.#bytes.length - this.#at) refuse("it is cut short");
    this.#at += count;
    return this.#bytes.slice(this.#at - count, this.#at);
  }

  number(): number {
    const [a = 0, b = 0, c = 0, d = 0] = this.take(4);
    return a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d;
  }

  string(): Uint8Array {
    return this.take(this.number());
  }

  end(): void {
    if (this.#at !== this.#bytes.length) refuse("there is data after it");
  }
}

function sshString(bytes: Uint8Array): Uint8Array {
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, bytes.length);
  return concatBytes(length, bytes);
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

function refuse(why: string): never {
  throw new ProofError("malformed_key", why);
}
