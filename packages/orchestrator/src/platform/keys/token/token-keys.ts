import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPublicKey,
  randomBytes,
  verify,
} from "node:crypto";
import type { Sealer } from "../../http/sealer.ts";
import type { AuthorityKey } from "../authority-key.ts";
import type { SealingKey } from "../sealing-key.ts";
import type { SigningKey } from "../signing-key.ts";
import { KeyTokenError } from "./key-token-error.ts";
import type { Token } from "./token.ts";
import type { KeyKind } from "./token-calls.ts";

/** RFC 8410 and RFC 5480, before the key itself. */
const SPKI = {
  ed25519: Buffer.from("302a300506032b6570032100", "hex"),
  p256: Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex"),
};

/**
 * A log's key in a token. Every signature is verified before it is used. Throws KeyTokenError `key`
 * if there is none.
 */
export async function tokenSigningKey(token: Token, uri: string): Promise<SigningKey> {
  const { publicKey } = await required(token, uri, "ed25519");
  const spki = publicKeyOf("ed25519", publicKey);
  const sign = async (message: Uint8Array): Promise<Uint8Array> => {
    const signature = await token.sign(uri, "ed25519", message);
    if (!verify(null, message, spki, signature)) throw wrong(uri);
    return signature;
  };
  await sign(randomBytes(32));
  return { publicKey, sign };
}

/** The CA's key in a token. */
export async function tokenAuthorityKey(token: Token, uri: string): Promise<AuthorityKey> {
  const { publicKey } = await required(token, uri, "p256");
  const spki = publicKeyOf("p256", publicKey);
  const sign = async (message: Uint8Array): Promise<Uint8Array> => {
    const digest = createHash("sha256").update(message).digest();
    const signature = await token.sign(uri, "p256", digest);
    if (!verify("sha256", message, { key: spki, dsaEncoding: "ieee-p1363" }, signature)) throw wrong(uri);
    return signature;
  };
  return { spki: spki.export({ format: "der", type: "spki" }), sign };
}

const VERSION = 2;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const WRAPPED_BYTES = 32 + TAG_BYTES;
const HEAD_BYTES = 1 + NONCE_BYTES + WRAPPED_BYTES + NONCE_BYTES;

/**
 * The sealing key in a token. Each box has a key of its own, which the token encrypts: version
 * byte, nonce, encrypted key with its tag, nonce, ciphertext, tag; AES-256-GCM both times, with the
 * purpose as additional data. So the token sees 32 bytes, however much is sealed.
 */
export async function tokenSealingKey(token: Token, uri: string): Promise<SealingKey> {
  await required(token, uri, "aes256");
  const sealer: Sealer = {
    async seal(plaintext, purpose) {
      const aad = Buffer.from(purpose);
      const key = randomBytes(32);
      const wrapNonce = randomBytes(NONCE_BYTES);
      const wrapped = await token.cipher("encrypt", uri, key, { iv: wrapNonce, aad });
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(aad);
      const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
      key.fill(0);
      return Buffer.concat([Buffer.of(VERSION), wrapNonce, wrapped, nonce, ciphertext, cipher.getAuthTag()]);
    },
    async open(sealed, purpose) {
      if (sealed.length < HEAD_BYTES + TAG_BYTES || sealed[0] !== VERSION)
        throw new Error("not a box that was sealed with a token's key");
      const aad = Buffer.from(purpose);
      const iv = sealed.subarray(1, 1 + NONCE_BYTES);
      const wrapped = sealed.subarray(1 + NONCE_BYTES, HEAD_BYTES - NONCE_BYTES);
      const key = Buffer.from(await token.cipher("decrypt", uri, wrapped, { iv, aad }));
      const end = sealed.length - TAG_BYTES;
      const decipher = createDecipheriv(
        "aes-256-gcm",
        key,
        sealed.subarray(HEAD_BYTES - NONCE_BYTES, HEAD_BYTES),
        {
          authTagLength: TAG_BYTES,
        },
      )
        .setAAD(aad)
        .setAuthTag(sealed.subarray(end));
      key.fill(0);
      return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES, end)), decipher.final()]);
    },
  };
  return { sealer, check: await sealingCheck(token, uri) };
}

/**
 * A hash of zeros encrypted with a zero nonce: always the same for the same key, and no box has
 * this nonce.
 */
async function sealingCheck(token: Token, uri: string): Promise<string> {
  const aad = Buffer.from("attestore sealing key check");
  const zeros = { data: Buffer.alloc(32), iv: Buffer.alloc(NONCE_BYTES) };
  const box = await token.cipher("encrypt", uri, zeros.data, { iv: zeros.iv, aad });
  return `token:${createHash("sha256").update(box).digest("hex")}`;
}

async function required(token: Token, uri: string, kind: KeyKind): Promise<{ publicKey: Uint8Array }> {
  const found = await token.find(uri, kind);
  if (found === null)
    throw new KeyTokenError({ reason: "key", message: `${uri}: the token has no such key` });
  return found;
}

function publicKeyOf(kind: "ed25519" | "p256", publicKey: Uint8Array) {
  return createPublicKey({ key: Buffer.concat([SPKI[kind], publicKey]), format: "der", type: "spki" });
}

function wrong(uri: string): KeyTokenError {
  return new KeyTokenError({
    reason: "key",
    message: `${uri}: it made a signature that does not match its public key`,
  });
}
