import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createFile, makeDirectory, replaceFile } from "@attestore/host/durable-files";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { UserError } from "../errors/user-error.ts";
import { generateKeyPem, heldAuthorityKey, issueLeaf, selfSign } from "./local-ca.ts";
import type { CertificateAuthority } from "./local-ca.ts";
import type { AuthorityKey } from "../keys/authority-key.ts";
import type { ServerNames } from "./names.ts";

const LEAF_DAYS = 397;
/** A leaf is renewed when it has less time left than this. */
const RENEW_BEFORE_MS = 90 * 24 * 60 * 60 * 1000;

export interface LocalCertificate {
  /** Private key and certificate, one after the other. */
  pem: string;
  /** The certificate that clients pin. */
  caFile: string;
  renewed: boolean;
}

/**
 * The certificate from `tls/`: a CA created on the first start, and a leaf from it that is for
 * `names` and not about to expire. The leaf belongs to this service or, with another file, to a
 * server that is trusted together with it.
 */
export async function ensureLocalCertificate(
  directory: string,
  names: ServerNames,
  now: Date,
  {
    leafFile = join(directory, "server.pem"),
    days = LEAF_DAYS,
    authority = null,
  }: {
    leafFile?: string;
    days?: number;
    /** The CA's key, if it is not the file `ca.key`. */
    authority?: AuthorityKey | null;
  } = {},
): Promise<LocalCertificate> {
  await makeDirectory(directory, 0o755);
  const caFile = join(directory, "ca.pem");
  const ca = await ensureAuthority(directory, caFile, authority, now);
  const before = await nullIfMissing(readFile(leafFile, "utf8"));
  if (before !== null && isUsable(before, ca, names, now)) return { pem: before, caFile, renewed: false };
  const pem = await issueLeaf(ca, names, now, days);
  // Key and certificate are one file, so whichever of two writers is last, they belong together.
  await replaceFile(leafFile, pem);
  return { pem, caFile, renewed: true };
}

/**
 * The key is written first. A crash between the two leaves a key without a certificate, which the
 * next start signs. The other order could leave a certificate that agents pin and whose key nobody
 * has.
 */
async function ensureAuthority(
  directory: string,
  caFile: string,
  authority: AuthorityKey | null,
  now: Date,
): Promise<CertificateAuthority> {
  const key = authority ?? (await fileKey(directory, caFile));
  if ((await nullIfMissing(readFile(caFile, "utf8"))) === null)
    await createFile(caFile, `${await selfSign(key, now)}\n`, { mode: 0o644 });
  const certificatePem = await readFile(caFile, "utf8");
  const { publicKey } = readable(caFile, () => new X509Certificate(certificatePem));
  if (!publicKey.export({ format: "der", type: "spki" }).equals(key.spki))
    throw new UserError(
      "certificate",
      `${caFile} is not the certificate of the authority's key. Restore the key, or, if ATTESTORE_CA_KEY names a key in the token, move the one in ${join(directory, "ca.key")} there: attestore-server keys move.`,
    );
  return { key, certificatePem };
}

/**
 * Whether the files of a local authority, if there is one, are whole, as a start needs them. Makes
 * none. @throws UserError certificate
 */
export async function requireWholeAuthority(directory: string): Promise<void> {
  const caFile = join(directory, "ca.pem");
  // With a certificate there, nothing of an authority is ever made.
  if ((await nullIfMissing(readFile(caFile, "utf8"))) !== null)
    await ensureAuthority(directory, caFile, null, new Date());
}

async function fileKey(directory: string, caFile: string): Promise<AuthorityKey> {
  const keyFile = join(directory, "ca.key");
  if ((await nullIfMissing(readFile(keyFile, "utf8"))) === null) {
    if ((await nullIfMissing(readFile(caFile, "utf8"))) !== null) {
      throw new UserError(
        "certificate",
        `${keyFile} is missing, but ${caFile} exists. Restore the key from a backup, or remove ${caFile} to start with a new authority, which every agent then needs.`,
      );
    }
    await createFile(keyFile, await generateKeyPem());
  }
  const pem = await readFile(keyFile, "utf8");
  return readable(keyFile, () => heldAuthorityKey(pem));
}

/** A copy may have been cut short. A new key would be an authority that no agent knows. */
function readable<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UserError(
      "certificate",
      `${file} is damaged or empty. Restore the directory tls/ from a backup, or move it away to start with a new authority, which every agent then needs.`,
      { cause: error },
    );
  }
}

function isUsable(pem: string, ca: CertificateAuthority, names: ServerNames, now: Date): boolean {
  let leaf: X509Certificate;
  try {
    leaf = new X509Certificate(pem);
    if (!leaf.verify(new X509Certificate(ca.certificatePem).publicKey)) return false;
  } catch {
    return false; // Damaged: a new one harms nobody.
  }
  if (new Date(leaf.validTo).getTime() - now.getTime() < RENEW_BEFORE_MS) return false;
  const named = leaf.subjectAltName?.split(", ").length ?? 0;
  return (
    named === names.dns.length + names.ip.length &&
    names.dns.every((name) => leaf.checkHost(name) !== undefined) &&
    names.ip.every((ip) => leaf.checkIP(ip) !== undefined)
  );
}
