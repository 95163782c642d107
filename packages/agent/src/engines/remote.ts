import { existsSync } from "node:fs";

/** Files in which the usual systems keep the certificate authorities that they trust. */
const BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/**
 * Whether a connection to this host leaves the machine. A unix socket and a loopback address do
 * not.
 */
export function isRemote(host: string): boolean {
  const name = host.trim().toLowerCase().replace(/\.$/, "");
  return !(name === "" || /^[/@]/.test(name) || /^(?:localhost|127(?:\.[0-9]{1,3}){3}|::1)$/.test(name));
}

/** The file with the authorities that this system trusts; null if we know none. */
export function systemAuthorities(): string | null {
  return BUNDLES.find((path) => existsSync(path)) ?? null;
}

/**
 * Whether a program's message about a failed connection is about the server's certificate, or says
 * that it has none.
 */
export function isAboutTls(message: string): boolean {
  return /\b(?:SSL|TLS|certificate|self[- ]signed|hostname mismatch)\b/i.test(message);
}
