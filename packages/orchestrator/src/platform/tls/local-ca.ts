// @peculiar/x509 needs the metadata API before it loads.
import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { createPrivateKey, createPublicKey, randomBytes, sign, webcrypto } from "node:crypto";
import type { AuthorityKey } from "../keys/authority-key.ts";
import type { ServerNames } from "./names.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY_MS = 24 * 60 * 60 * 1000;
const CA_DAYS = 3650;
/** Machines whose clock is a little behind must accept a new certificate. */
const BACKDATED_MS = 60 * 60 * 1000;

export interface CertificateAuthority {
  certificatePem: string;
  key: AuthorityKey;
}

x509.cryptoProvider.set(webcrypto as Crypto);

/** A fresh P-256 key, PKCS #8 in PEM. */
export async function generateKeyPem(): Promise<string> {
  const pair = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", pair.privateKey), "PRIVATE KEY");
}

/**
 * A CA certificate for this installation only: it may sign leaves and no further CA. Not limited to
 * names: agents pin it, and it must survive a change of the host's name.
 */
export async function selfSign(key: AuthorityKey, now: Date): Promise<string> {
  const publicKey = await importPublicKey(key.spki);
  const name = `CN=Attestore local CA ${randomBytes(4).toString("hex")}`;
  const certificate = await signedBy(key, {
    serialNumber: serialNumber(),
    subject: name,
    issuer: name,
    notBefore: new Date(now.getTime() - BACKDATED_MS),
    notAfter: new Date(now.getTime() + CA_DAYS * DAY_MS),
    publicKey,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return certificate.toString("pem");
}

/**
 * A server certificate for the names, with its key, both in one PEM text so that they can't be
 * replaced separately. Valid for this many days, or until the CA's own certificate ends.
 */
export async function issueLeaf(
  ca: CertificateAuthority,
  names: ServerNames,
  now: Date,
  days: number,
): Promise<string> {
  const keyPem = await generateKeyPem();
  const publicKey = await importPublicKey(heldAuthorityKey(keyPem).spki);
  const issuer = new x509.X509Certificate(ca.certificatePem);
  const end = Math.min(now.getTime() + days * DAY_MS, issuer.notAfter.getTime());
  const certificate = await signedBy(ca.key, {
    serialNumber: serialNumber(),
    issuer: issuer.subject,
    subject: `CN=Attestore server`,
    notBefore: new Date(now.getTime() - BACKDATED_MS),
    notAfter: new Date(end),
    publicKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        ...names.dns.map((value) => ({ type: "dns" as const, value })),
        ...names.ip.map((value) => ({ type: "ip" as const, value })),
      ]),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer, false),
    ],
  });
  return `${keyPem}\n${certificate.toString("pem")}\n`;
}

/** Positive, 16 bytes (RFC 5280, section 4.1.2.2). */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString("hex");
}

type Contents = Omit<x509.X509CertificateCreateWithKeyParams, "signingKey" | "signingAlgorithm">;

/**
 * The bytes to sign come from a first certificate with an empty signature, because the key may be
 * where no library can reach it.
 */
async function signedBy(key: AuthorityKey, contents: Contents): Promise<x509.X509Certificate> {
  const withSignature = (signature: Uint8Array): Promise<x509.X509Certificate> =>
    x509.X509CertificateGenerator.create({
      ...contents,
      signingAlgorithm: ALGORITHM,
      signature: new Uint8Array(signature),
    });
  const unsigned = await withSignature(new Uint8Array(64).fill(1));
  return withSignature(await key.sign(signedPart(unsigned)));
}

/**
 * TBSCertificate, the signed part: the first thing in the outer sequence (RFC 5280, section 4.1).
 */
function signedPart({ rawData }: x509.X509Certificate): Uint8Array {
  const der = new Uint8Array(rawData);
  const start = contentOf(der, 0).start;
  return der.subarray(start, contentOf(der, start).end);
}

/** Where the content of the DER element at `at` begins. */
function contentOf(der: Uint8Array, at: number): { start: number; end: number } {
  const first = der[at + 1] ?? 0;
  const more = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + more;
  const length =
    more === 0 ? first : Number.parseInt(Buffer.from(der.subarray(at + 2, start)).toString("hex"), 16);
  return { start, end: start + length };
}

async function importPublicKey(spki: Uint8Array): Promise<CryptoKey> {
  return (await webcrypto.subtle.importKey("spki", spki, ALGORITHM, true, ["verify"])) as CryptoKey;
}

/** A key that this process holds, PKCS #8 in PEM. */
export function heldAuthorityKey(keyPem: string): AuthorityKey {
  const key = createPrivateKey(keyPem);
  return {
    spki: createPublicKey(key).export({ format: "der", type: "spki" }),
    sign: async (message) => sign("sha256", message, { key, dsaEncoding: "ieee-p1363" }),
  };
}
