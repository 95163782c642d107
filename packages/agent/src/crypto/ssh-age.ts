import {
  constants,
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  privateDecrypt,
  publicEncrypt,
  type KeyObject,
} from "node:crypto";
import { Stanza, type Identity, type Recipient } from "age-encryption";
import type { SshPrivateKey } from "./ssh-private-key.ts";
import { sshKeyTag, type SshPublicKey } from "./ssh-public-key.ts";
import { strictBase64 } from "./ssh-wire.ts";

/**
 * SSH keys as age recipients and identities: the `ssh-ed25519` and `ssh-rsa` stanzas of age's own
 * implementation (filippo.io/age/agessh), so that `age -d -i ~/.ssh/id_ed25519` reads our backups
 * and we read its files.
 */
const ED25519_LABEL = "age-encryption.org/v1/ssh-ed25519";
const RSA_LABEL = Buffer.from("age-encryption.org/v1/ssh-rsa");
const NONCE = Buffer.alloc(12);

export function sshRecipient({ type, wire, key, ed25519 }: SshPublicKey): Recipient {
  return {
    wrapFileKey: (fileKey) => {
      if (type === "ssh-rsa" || ed25519 === null) {
        const oaep = {
          key,
          padding: constants.RSA_PKCS1_OAEP_PADDING,
          oaepHash: "sha256",
          oaepLabel: RSA_LABEL,
        };
        return [new Stanza(["ssh-rsa", sshKeyTag(wire)], publicEncrypt(oaep, fileKey))];
      }
      const theirs = montgomery(ed25519);
      const { privateKey, publicKey } = generateKeyPairSync("x25519");
      const share = rawX25519(publicKey);
      const shared = tweaked(wire, diffieHellman({ privateKey, publicKey: x25519Public(theirs) }));
      const cipher = createCipheriv("chacha20-poly1305", wrappingKey(shared, share, theirs), NONCE, {
        authTagLength: 16,
      });
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
      return [new Stanza(["ssh-ed25519", sshKeyTag(wire), unpadded(share)], body)];
    },
  };
}

export function sshIdentity({ publicKey, key, seed }: SshPrivateKey): Identity {
  const tag = sshKeyTag(publicKey.wire);
  return {
    unwrapFileKey: (stanzas) => {
      for (const { args, body } of stanzas) {
        if (args[0] !== publicKey.type || args[1] !== tag) continue;
        const fileKey =
          seed === null ? unwrapRsa(args, body, key) : unwrapEd25519(args, body, publicKey, seed);
        if (fileKey !== null) return fileKey;
      }
      return null;
    },
  };
}

function unwrapRsa(args: readonly string[], body: Uint8Array, key: KeyObject): Uint8Array | null {
  if (args.length !== 2) throw new Error("malformed ssh-rsa stanza");
  const oaep = { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256", oaepLabel: RSA_LABEL };
  // Another key may have the same four bytes of tag.
  return quietly(() => privateDecrypt(oaep, body));
}

function unwrapEd25519(
  args: readonly string[],
  body: Uint8Array,
  { wire, ed25519 }: SshPublicKey,
  seed: Buffer,
): Uint8Array | null {
  const encoded = args[2] ?? "";
  const share = strictBase64(encoded.padEnd(Math.ceil(encoded.length / 4) * 4, "="));
  if (args.length !== 3 || share?.length !== 32 || body.length !== 32 || ed25519 === null)
    throw new Error("malformed ssh-ed25519 stanza");
  const scalar = createHash("sha512").update(seed).digest().subarray(0, 32);
  const shared = tweaked(
    wire,
    diffieHellman({ privateKey: x25519Private(scalar), publicKey: x25519Public(share) }),
  );
  const decipher = createDecipheriv(
    "chacha20-poly1305",
    wrappingKey(shared, share, montgomery(ed25519)),
    NONCE,
    { authTagLength: 16 },
  );
  decipher.setAuthTag(body.subarray(16));
  return quietly(() => Buffer.concat([decipher.update(body.subarray(0, 16)), decipher.final()]));
}

/** Binds the shared secret to the SSH key, whose two forms (signing, here) must not be confused. */
function tweaked(wire: Buffer, shared: Buffer): Buffer {
  const tweak = Buffer.from(hkdfSync("sha256", Buffer.alloc(0), wire, ED25519_LABEL, 32));
  return diffieHellman({ privateKey: x25519Private(tweak), publicKey: x25519Public(shared) });
}

function wrappingKey(shared: Buffer, share: Buffer, theirs: Buffer): Buffer {
  return Buffer.from(hkdfSync("sha256", shared, Buffer.concat([share, theirs]), ED25519_LABEL, 32));
}

const P = 2n ** 255n - 19n;

/** The X25519 form of an Ed25519 public key: u = (1 + y) / (1 - y) (RFC 7748 section 4.1). */
function montgomery(ed25519: Buffer): Buffer {
  const littleEndian = Buffer.from(ed25519).reverse();
  const y = BigInt(`0x${littleEndian.toString("hex")}`) & (2n ** 255n - 1n);
  const u = ((1n + y) * power(((1n - y) % P) + P, P - 2n)) % P;
  return Buffer.from(u.toString(16).padStart(64, "0"), "hex").reverse();
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base % P;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

const SPKI_X25519 = Buffer.from("302a300506032b656e032100", "hex");
const PKCS8_X25519 = Buffer.from("302e020100300506032b656e04220420", "hex");

function x25519Public(raw: Buffer): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_X25519, raw]), format: "der", type: "spki" });
}

function x25519Private(raw: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_X25519, raw]), format: "der", type: "pkcs8" });
}

function rawX25519(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" }).subarray(SPKI_X25519.length);
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}

function quietly(open: () => Uint8Array): Uint8Array | null {
  try {
    return open();
  } catch {
    return null;
  }
}
