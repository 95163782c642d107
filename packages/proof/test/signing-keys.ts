import {
  concatBytes,
  fromBase64,
  fromHex,
  noteVerifier,
  publicKeyFromBytes,
  publicKeyFromSpki,
  type NoteAlgorithm,
  type NoteVerifier,
  type PublicKey,
  type Signer,
} from "../src/index.ts";
import { p256SignatureToDer } from "../src/keys/ecdsa-der.ts";

/** A key to sign with in tests. WebCrypto, so that it works in Node and in browsers. */
export interface TestKey {
  publicKey: PublicKey;
  sign: Signer;
  /** PKCS #8, DER. */
  privateKey: Uint8Array;
}

const own = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes);

/** The same Ed25519 key for the same number, every time. */
export async function ed25519Key(seed: number | Uint8Array): Promise<TestKey> {
  const secret = typeof seed === "number" ? new Uint8Array(32).fill(seed) : seed;
  const privateKey = concatBytes(fromHex("302e020100300506032b657004220420"), secret);
  const key = await crypto.subtle.importKey("pkcs8", own(privateKey), "Ed25519", true, ["sign"]);
  const { x = "" } = await crypto.subtle.exportKey("jwk", key);
  const raw = fromBase64(`${x.replaceAll("-", "+").replaceAll("_", "/")}=`);
  return {
    publicKey: publicKeyFromBytes(raw),
    privateKey,
    sign: async (message) => new Uint8Array(await crypto.subtle.sign("Ed25519", key, own(message))),
  };
}

/** A fresh P-256 key. */
export async function p256Key(): Promise<TestKey> {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
    "verify",
  ]);
  const spki = new Uint8Array(await crypto.subtle.exportKey("spki", pair.publicKey));
  return {
    publicKey: publicKeyFromSpki(spki),
    privateKey: new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey)),
    sign: async (message) => {
      const raw = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, pair.privateKey, own(message));
      return p256SignatureToDer(new Uint8Array(raw));
    },
  };
}

export function verifierOf(key: TestKey, name: string, algorithm: NoteAlgorithm = "ed25519"): NoteVerifier {
  return noteVerifier(name, algorithm, key.publicKey.bytes);
}
