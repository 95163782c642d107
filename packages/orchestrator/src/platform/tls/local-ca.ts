// @peculiar/x509 needs the metadata API before it loads.
import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { randomBytes, webcrypto } from "node:crypto";
import type { ServerNames } from "./names.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY_MS = 24 * 60 * 60 * 1000;
const CA_DAYS = 3650;
/** Machines whose clock is behind must take a certificate of a moment ago. */
const BACKDATED_MS = 60 * 60 * 1000;

export interface CertificateAuthority {
  certificatePem: string;
  keyPem: string;
}

x509.cryptoProvider.set(webcrypto as Crypto);

/** A fresh P-256 key, PKCS #8 in PEM. */
export async function generateKeyPem(): Promise<string> {
  const pair = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", pair.privateKey), "PRIVATE KEY");
}

/**
 * A certificate for an authority of this installation alone: it may sign leaves and no further authority. Not
 * constrained to names: agents pin it, and it must outlive a change of the host's name.
 */
export async function selfSign(keyPem: string, now: Date): Promise<string> {
  const keys = await importKeys(keyPem);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: `CN=Attestore local CA ${randomBytes(4).toString("hex")}`,
    notBefore: new Date(now.getTime() - BACKDATED_MS),
    notAfter: new Date(now.getTime() + CA_DAYS * DAY_MS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return certificate.toString("pem");
}

/**
 * A server certificate for the names, with its key: both in one PEM text, so that they cannot be exchanged separately. For so many days, or until the
 * authority's own ends.
 */
export async function issueLeaf(
  ca: CertificateAuthority,
  names: ServerNames,
  now: Date,
  days: number,
): Promise<string> {
  const keyPem = await generateKeyPem();
  const keys = await importKeys(keyPem);
  const issuer = new x509.X509Certificate(ca.certificatePem);
  const issuerKeys = await importKeys(ca.keyPem);
  const end = Math.min(now.getTime() + days * DAY_MS, issuer.notAfter.getTime());
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    issuer: issuer.subject,
    subject: `CN=Attestore server`,
    notBefore: new Date(now.getTime() - BACKDATED_MS),
    notAfter: new Date(end),
    signingAlgorithm: ALGORITHM,
    signingKey: issuerKeys.privateKey,
    publicKey: keys.publicKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        ...names.dns.map((value) => ({ type: "dns" as const, value })),
        ...names.ip.map((value) => ({ type: "ip" as const, value })),
      ]),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer, false),
    ],
  });
  return `${keyPem}\n${certificate.toString("pem")}\n`;
}

/** Positive and of 16 bytes (RFC 5280, section 4.1.2.2). */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString("hex");
}

async function importKeys(keyPem: string): Promise<CryptoKeyPair> {
  const [der] = x509.PemConverter.decode(keyPem);
  if (der === undefined) throw new TypeError("no PEM block in the key");
  const privateKey = await webcrypto.subtle.importKey("pkcs8", der, ALGORITHM, true, ["sign"]);
  const { kty, crv, x, y } = await webcrypto.subtle.exportKey("jwk", privateKey);
  const jwk = { kty, crv, x, y } as JsonWebKey;
  const publicKey = await webcrypto.subtle.importKey("jwk", jwk, ALGORITHM, true, ["verify"]);
  return { privateKey, publicKey } as CryptoKeyPair;
}
