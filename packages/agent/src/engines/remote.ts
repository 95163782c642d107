import { existsSync } from "node:fs";

/** Where the usual systems keep the certificate authorities that they trust. */
const BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/**
 * Whether what is sent to a host leaves this one: not by a unix socket, and not by a loopback
 * address.
 */
export function isRemote(host: string): boolean {
  const name = host.trim().toLowerCase().replace(/\.$/, "");
  return !(name === "" || /^[/@]/.test(name) || /^(?:localhost|127(?:\.[0-9]{1,3}){3}|::1)$/.test(name));
}

/** The file of the authorities that this system trusts; null where there is none that we know. */
export function systemAuthorities(): string | null {
  return BUNDLES.find((path) => existsSync(path)) ?? null;
}

/**
 * Of a program's message about a connection that failed: whether it is about the server's
 * certificate, or that it has none.
 */
export function isAboutTls(message: string): boolean {
  return /\b(?:SSL|TLS|certificate|self[- ]signed|hostname mismatch)\b/i.test(message);
}
