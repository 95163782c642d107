import { X509Certificate } from "node:crypto";
import { Agent } from "node:https";
import { TLSSocket, type DetailedPeerCertificate } from "node:tls";
import { wrongKey } from "../errors/wrong-key.ts";
import { UserError } from "../errors/user-error.ts";
import { connectionError } from "./exchange.ts";
import { proxyEnvironment } from "./proxy.ts";

/**
 * The certificate with this SHA-256 fingerprint that a service presents (its own, or a CA that it
 * sends along), as PEM. Nothing else from the service is used: the person vouches for the
 * fingerprint.
 * @throws UserError if none has that fingerprint; ServiceError if it can't be reached
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
      `--ca-sha256 takes the 64 hex digits of a certificate's SHA-256 fingerprint${wrongKey(text)}`,
    );
  return bare;
}

const TIMEOUT_MS = 15_000;

/**
 * The certificates that a service presents, its own first. This only looks: the connection, through
 * a proxy if there is one, is closed before anything is sent.
 */
export function shownCertificates(url: URL, signal: AbortSignal): Promise<X509Certificate[]> {
  const agent = new Agent({ proxyEnv: { ...proxyEnvironment() } });
  const enough = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  return new Promise<X509Certificate[]>((resolve, reject) => {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const isName = !/^[0-9.]+$|:/.test(host);
    const look = (socket: TLSSocket): void => {
      resolve(chainOf(socket.getPeerCertificate(true)));
      socket.destroy();
    };
    const options = {
      host,
      port: Number(url.port || 443),
      minVersion: "TLSv1.3" as const,
      ...(isName ? { servername: host } : {}),
      rejectUnauthorized: false,
    };
    // Through a proxy this returns the connection to the proxy; the callback gets the one to the
    // service, after its TLS handshake.
    const connection = agent.createConnection(options, (error, socket) => {
      if (error !== null) reject(error);
      else if (socket instanceof TLSSocket) look(socket);
    });
    if (connection instanceof TLSSocket) connection.once("secureConnect", () => look(connection));
    connection?.on("error", reject);
    const stop = (): void => {
      connection?.destroy();
      reject(new Error(`no answer within ${TIMEOUT_MS / 1000} s`));
    };
    enough.addEventListener("abort", stop, { once: true });
  })
    .catch((error: unknown) => {
      signal.throwIfAborted();
      throw connectionError(url, error);
    })
    .finally(() => agent.destroy());
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
