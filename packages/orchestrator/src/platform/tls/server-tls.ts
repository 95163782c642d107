import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { errorMessage } from "@attestore/host/errno";
import { UserError } from "../errors/user-error.ts";
import type { Logger } from "../logging/logger.ts";
import type { AuthorityKey } from "../keys/authority-key.ts";
import { ensureLocalCertificate } from "./certificate-files.ts";
import { serverNames } from "./names.ts";

/** TLS 1.3's own suites with AES-GCM or ChaCha20-Poly1305 (RFC 8446, section B.4), without CCM. */
const SUITES = ["TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"];

export interface TlsSettings {
  /** `tls/` of the data directory. */
  directory: string;
  /** More names and addresses that clients use for this service. */
  hostnames: string[];
  /** A certificate of the user's own (PEM, with its chain) and its key. */
  certificateFile?: string | undefined;
  keyFile?: string | undefined;
  /** The local CA's key, if it is not the file `ca.key`. */
  authority?: AuthorityKey | null;
}

export interface ServerTls {
  options: SecureContextOptions;
  /** The certificate that clients of the local CA pin; null for a certificate of the user's own. */
  caFile: string | null;
}

/**
 * The certificate of the HTTPS server. A later call returns the renewed one, for
 * `setSecureContext`.
 */
export async function loadServerTls(
  settings: TlsSettings,
  log: Logger,
  now = new Date(),
): Promise<ServerTls> {
  if (settings.certificateFile !== undefined || settings.keyFile !== undefined) {
    return { options: await loadOwn(settings.certificateFile, settings.keyFile, log, now), caFile: null };
  }
  const local = await ensureLocalCertificate(settings.directory, serverNames(settings.hostnames), now, {
    authority: settings.authority ?? null,
  });
  if (local.renewed) {
    const leaf = new X509Certificate(local.pem);
    log.info(
      { names: leaf.subjectAltName, valid_to: leaf.validTo, ca_file: local.caFile },
      "created a server certificate",
    );
  }
  // With the CA after the leaf, so that a client that only knows its fingerprint gets it.
  const chain = `${local.pem}\n${await readFile(local.caFile, "utf8")}`;
  return { options: serverTlsOptions(chain, local.pem), caFile: local.caFile };
}

export function serverTlsOptions(certificate: string, key: string): SecureContextOptions {
  return { cert: certificate, key, minVersion: "TLSv1.3", maxVersion: "TLSv1.3", ciphers: SUITES.join(":") };
}

async function loadOwn(
  certificateFile: string | undefined,
  keyFile: string | undefined,
  log: Logger,
  now: Date,
): Promise<SecureContextOptions> {
  if (certificateFile === undefined || keyFile === undefined) {
    throw new UserError(
      "invalid_setting",
      "ATTESTORE_TLS_CERT and ATTESTORE_TLS_KEY belong together: set both or neither.",
    );
  }
  const certificate = await readPem("ATTESTORE_TLS_CERT", certificateFile);
  const key = await readPem("ATTESTORE_TLS_KEY", keyFile);
  const leaf = parse("ATTESTORE_TLS_CERT", certificateFile, () => new X509Certificate(certificate));
  const privateKey = parse("ATTESTORE_TLS_KEY", keyFile, () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(privateKey)) {
    throw new UserError(
      "certificate",
      `The key in ${keyFile} (ATTESTORE_TLS_KEY) does not belong to the first certificate in ${certificateFile} (ATTESTORE_TLS_CERT). The server's own certificate comes first, its chain after it.`,
    );
  }
  const options = serverTlsOptions(certificate, key);
  // A file that is only half written has a whole first certificate, and no whole chain.
  parse("ATTESTORE_TLS_CERT", certificateFile, () => createSecureContext(options));
  if (new Date(leaf.validTo) < now) {
    log.warn(
      { certificate: certificateFile, valid_to: leaf.validTo },
      "the server certificate has expired; clients will refuse it",
    );
  }
  return options;
}

async function readPem(setting: string, path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: unknown) => {
    throw new UserError("certificate", `${setting}: ${path} cannot be read (${errorMessage(error)}).`, {
      cause: error,
    });
  });
}

function parse<T>(setting: string, path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UserError("certificate", `${setting}: ${path} contains no valid PEM of that kind.`, {
      cause: error,
    });
  }
}
