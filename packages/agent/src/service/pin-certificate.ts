import { X509Certificate } from "node:crypto";
import { connect, type DetailedPeerCertificate, type TLSSocket } from "node:tls";
import { UserError } from "../root/user-error.ts";
import { connectionError } from "./exchange.ts";

/**
 * The certificate with this SHA-256 fingerprint that a service shows (its own, or a CA that it sends along), as PEM.
 * Nothing else that the service says is used: the fingerprint is what the person vouches for.
 * @throws UserError if it shows none with that fingerprint; ServiceError if it can't be reached
 */
export async function fetchPinnedCertificate(url: URL, sha256: string, signal: AbortSignal): Promise<string> {
  const wanted = normalizeFingerprint(sha256);
  const shown = await shownCertificates(url, signal);
  const found = shown.find((certificate) => normalizeFingerprint(certificate.fingerprint256) === wanted);
  if (found === undefined) {
    const seen = shown.map(
      ({ subject, fingerprint256 }) => `${fingerprint256} (${subject.replaceAll("\n", ", ")})`,
    );
    throw new UserError(
      "usage",
      `${url.host} shows no certificate with the fingerprint that was given. It shows ${seen.join("; ")}. ` +
        "Compare them with what the service's operator told you.",
    );
  }
  return found.toString();
}

/** 64 hex digits, with or without colons, in either case. @throws UserError usage */
function normalizeFingerprint(text: string): string {
  const bare = text
    .replaceAll(":", "")
    .replace(/^sha256[:=]?/i, "")
    .toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(bare))
    throw new UserError(
      "usage",
      "--ca-sha256 takes the 64 hex digits of a certificate's SHA-256 fingerprint",
    );
  return bare;
}

function shownCertificates(url: URL, signal: AbortSignal): Promise<X509Certificate[]> {
  return new Promise((resolve, reject) => {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const isName = !/^[0-9.]+$|:/.test(host);
    const socket: TLSSocket = connect(
      {
        host,
        port: Number(url.port || 443),
        minVersion: "TLSv1.3",
        ...(isName ? { servername: host } : {}),
        // Only to look: the connection is closed before anything is sent.
        rejectUnauthorized: false,
        timeout: 15_000,
      },
      () => {
        resolve(chainOf(socket.getPeerCertificate(true)));
        socket.destroy();
      },
    );
    const stop = (): void => void socket.destroy(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
    socket.on("timeout", () => socket.destroy(new Error("no answer within 15 s")));
    socket.on("error", (error) => reject(signal.aborted ? error : connectionError(url, error)));
    socket.on("close", () => {
      signal.removeEventListener("abort", stop);
    });
  });
}

function chainOf(leaf: DetailedPeerCertificate): X509Certificate[] {
  const seen = new Map<string, X509Certificate>();
  for (
    let certificate: DetailedPeerCertificate | undefined = leaf;
    certificate?.raw !== undefined && !seen.has(certificate.fingerprint256);
    certificate = certificate.issuerCertificate
  ) {
    seen.set(certificate.fingerprint256, new X509Certificate(certificate.raw));
  }
  return [...seen.values()];
}
