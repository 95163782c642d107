import fc from "fast-check";
import { describe, expect, it } from "vitest";
import vectors from "../../test/signature-vectors.json" with { type: "json" };
import { ed25519Key, p256Key } from "../../test/signing-keys.ts";
import { fromBase64, toBase64 } from "../base64.ts";
import { concatBytes, utf8 } from "../bytes.ts";
import { fromHex, toHex } from "../hex.ts";
import { ProofError } from "../proof-error.ts";
import { p256SignatureFromDer, p256SignatureToDer } from "./ecdsa-der.ts";
import { formatPublicKeyPem, parsePublicKeyFile } from "./key-file.ts";
import { formatPublicKeyWire, parsePublicKeyWire, publicKeyFromBytes } from "./public-key.ts";
import { formatSshLine, sshFingerprint } from "./ssh.ts";
import { verifySignature } from "./verify-signature.ts";

/** RFC 8032 section 7.1: secret, public key, message, signature. */
const rfc8032 = [
  [
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "",
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  ],
  [
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "72",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  ],
  [
    "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    "af82",
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  ],
] as const;

describe("Ed25519", () => {
  it.each(rfc8032)("RFC 8032: key %.8s", async (secret, publicKey, message, signature) => {
    const key = publicKeyFromBytes(fromHex(publicKey));
    expect(await verifySignature(key, fromHex(message), fromHex(signature))).toBe(true);
    const mine = await ed25519Key(fromHex(secret));
    expect(toHex(mine.publicKey.bytes)).toBe(publicKey);
    expect(toHex(await mine.sign(fromHex(message)))).toBe(signature);
  });

  it("refuses every signature with one bit flipped", async () => {
    const [, publicKey, message, signature] = rfc8032[2];
    const key = publicKeyFromBytes(fromHex(publicKey));
    for (let bit = 0; bit < 512; bit++) {
      const bytes = fromHex(signature);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(await verifySignature(key, fromHex(message), bytes)).toBe(false);
    }
    expect(await verifySignature(key, fromHex("af83"), fromHex(signature))).toBe(false);
    for (const length of [0, 63, 65])
      expect(await verifySignature(key, fromHex(message), new Uint8Array(length))).toBe(false);
  });

  it("accepts only one spelling of a signature: S below the group's order (RFC 8032 section 5.1.7)", async () => {
    const { publicKey, sign } = await ed25519Key(1);
    const message = utf8("a message");
    const signature = await sign(message);
    expect(await verifySignature(publicKey, message, signature)).toBe(true);
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    let s = BigInt(`0x${toHex(signature.slice(32).toReversed())}`) + order;
    const other = signature.slice();
    for (let at = 32; at < 64; at++, s >>= 8n) other[at] = Number(s & 0xffn);
    expect(s).toBe(0n);
    expect(await verifySignature(publicKey, message, other)).toBe(false);
  });

  /**
   * Verifiers disagree about these signatures: RFC 8032 leaves the cofactor open, and libraries
   * differ in what they accept.
   */
  it.each(vectors.signatures)("$name: $holds", async ({ key, message, signature, holds }) => {
    expect(
      await verifySignature(publicKeyFromBytes(fromHex(key)), fromHex(message), fromHex(signature)),
    ).toBe(holds);
  });

  it.each(vectors.refused_keys)("refuses a key $name: $key", ({ key }) => {
    expect(() => parsePublicKeyWire(toBase64(fromHex(key)))).toThrow(ProofError);
  });
});

describe("ECDSA P-256", () => {
  it("verifies DER signatures and refuses near misses", async () => {
    const { publicKey, sign } = await p256Key();
    const message = utf8("message");
    const der = await sign(message);
    expect(await verifySignature(publicKey, message, der)).toBe(true);
    expect(await verifySignature(publicKey, utf8("massage"), der)).toBe(false);
    const raw = p256SignatureFromDer(der) ?? new Uint8Array(0);
    expect(await verifySignature(publicKey, message, raw)).toBe(false);
    for (let bit = 0; bit < der.length * 8; bit++) {
      const bytes = der.slice();
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(await verifySignature(publicKey, message, bytes)).toBe(false);
    }
  });

  it("accepts only one DER encoding of a signature", () => {
    expect(p256SignatureFromDer(fromHex("3006020101020102"))).toHaveLength(64);
    for (const bad of [
      "",
      "30",
      "3006020101020102ff", // after the end
      "3007020101020102", // a wrong length
      "300702020001020102", // a zero too many
      "3006020181020102", // negative
      "3006020100020102", // r = 0
      "30050201010200", // no s
      "308106020101020102", // long form of a short length
      "3106020101020102", // a set
      "3006020101030102", // a bit string
      `3026022100ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551020102`, // r = n
      "3009020101020102020103", // three numbers
    ])
      expect(p256SignatureFromDer(fromHex(bad)), bad).toBeUndefined();
  });

  it.each(vectors.refused_p256_keys)("refuses a key $name", ({ key }) => {
    expect(() => parsePublicKeyWire(toBase64(fromHex(key)))).toThrow(ProofError);
  });

  it("turns r || s into DER and back", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 62, maxLength: 62 }), (bytes) => {
        const raw = concatBytes(
          Uint8Array.of(0),
          bytes.subarray(0, 31),
          Uint8Array.of(0),
          bytes.subarray(31),
        );
        raw[31] = (raw[31] ?? 0) | 1;
        raw[63] = (raw[63] ?? 0) | 1;
        expect(p256SignatureFromDer(p256SignatureToDer(raw))).toEqual(raw);
      }),
    );
  });

  it("refuses points that are not on the curve, and compressed ones", async () => {
    const { publicKey } = await p256Key();
    for (const at of [26, 27, 58, 90, 10]) {
      const bytes = publicKey.bytes.slice();
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      expect(() => publicKeyFromBytes(bytes)).toThrow(ProofError);
    }
    expect(() => publicKeyFromBytes(publicKey.bytes.subarray(0, 90))).toThrow(ProofError);
  });
});

describe("key files", () => {
  it("may hold a key in any of three forms", async () => {
    for (const { publicKey } of [await ed25519Key(7), await p256Key()]) {
      for (const text of [
        formatPublicKeyPem(publicKey),
        formatPublicKeyPem(publicKey).replaceAll("\n", "\r\n"),
        formatPublicKeyWire(publicKey),
        `${formatPublicKeyWire(publicKey)}\n`,
        formatSshLine(publicKey),
        `${formatSshLine(publicKey)} agent@host\n`,
      ])
        expect(parsePublicKeyFile(text)).toEqual(publicKey);
    }
  });

  it("are refused if they hold anything else", async () => {
    const { publicKey } = await ed25519Key(7);
    const pem = formatPublicKeyPem(publicKey);
    const ssh = formatSshLine(publicKey);
    for (const text of [
      "",
      pem + pem,
      pem.replace("MCow", "MCox"),
      pem.replace("BEGIN PUBLIC", "BEGIN RSA PUBLIC"),
      pem.slice(0, -8),
      ssh.replace("AAAAC3", "AAAAC4"),
      ssh.replace("ssh-ed25519", "ecdsa-sha2-nistp256"),
      ssh.replace("ssh-ed25519", "ssh-rsa"),
      `no-pty ${ssh}`,
      ssh.slice(0, -4),
      formatPublicKeyWire(publicKey).slice(4),
      toBase64(new Uint8Array(32)),
      "A".repeat(5000),
    ])
      expect(() => parsePublicKeyFile(text), text).toThrow(ProofError);
    expect(() => parsePublicKeyFile("-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----")).toThrow(
      /private key/,
    );
  });
});

describe("SSH fingerprints", () => {
  /** A published key and its fingerprint: GitHub's host key, as its documentation lists both. */
  it("are as ssh-keygen prints them", () => {
    const github = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
    expect(sshFingerprint(parsePublicKeyFile(github))).toBe(
      "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU",
    );
    const githubP256 =
      "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=";
    expect(sshFingerprint(parsePublicKeyFile(githubP256))).toBe(
      "SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM",
    );
  });
});

it("a public key's wire form is standard base64", async () => {
  const { publicKey } = await ed25519Key(1);
  expect(fromBase64(formatPublicKeyWire(publicKey))).toEqual(publicKey.bytes);
});
