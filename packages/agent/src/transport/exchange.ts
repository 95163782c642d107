import type { ClientRequest, IncomingHttpHeaders } from "node:http";
import { request, type Agent } from "node:https";
import { unreachable } from "./unreachable.ts";
import { ServiceError } from "./service-error.ts";

export interface Exchange {
  readonly method: "GET" | "POST" | "HEAD" | "DELETE";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly connections: Agent;
  /** From the first byte sent to the last received. */
  readonly timeout_ms: number;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * One request and its whole answer, whatever its status. @throws ServiceError; the signal's reason
 * if it fires.
 */
export async function exchange(call: Exchange): Promise<Answer> {
  const deadline = AbortSignal.timeout(call.timeout_ms);
  try {
    return await send(call, AbortSignal.any([call.signal, deadline]));
  } catch (error) {
    call.signal.throwIfAborted();
    if (error instanceof ServiceError) throw error;
    if (deadline.aborted) {
      throw new ServiceError("timeout", `${call.url.host} did not answer within ${call.timeout_ms / 1000} s`);
    }
    throw connectionError(call.url, error);
  }
}

function send(call: Exchange, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const body = call.body === undefined ? null : Buffer.from(call.body);
    const outgoing = request(
      call.url,
      {
        method: call.method,
        agent: call.connections,
        signal,
        headers: { ...call.headers, ...(body === null ? {} : { "content-length": body.length }) },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        let size = 0;
        incoming.on("data", (chunk: Buffer) => {
          size += chunk.length;
          if (size > call.maxResponseBytes) {
            outgoing.destroy(
              new ServiceError(
                "invalid_response",
                `${call.url.host} sent more than ${call.maxResponseBytes} bytes`,
                {
                  status: incoming.statusCode ?? 0,
                },
              ),
            );
          } else chunks.push(chunk);
        });
        incoming.on("error", reject);
        incoming.on("end", () => {
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: Buffer.concat(chunks),
          });
        });
      },
    );
    outgoing.on("error", reject);
    refuseUpgrade(outgoing, reject);
    outgoing.end(body ?? undefined);
  });
}

/** For Node an answer that switches protocols is not a response, and nothing else would arrive. */
export function refuseUpgrade(outgoing: ClientRequest, reject: (error: Error) => void): void {
  outgoing.on("upgrade", (_answer, socket) => {
    socket.destroy();
    reject(new Error("it answered in another protocol"));
  });
}

/**
 * A failed connection, in words that say what to do. Node's own errors name the host and the
 * reason.
 */
export function connectionError(url: URL, error: unknown): ServiceError {
  if (!(error instanceof Error)) return new ServiceError("unreachable", `${url.host} can't be reached`);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") {
    return new ServiceError(
      "untrusted",
      `the certificate of ${url.host} is not trusted (${error.message}). By this host's clock it is ` +
        `${new Date().toISOString()}: set the clock if that is wrong (timedatectl), else the service needs a new certificate.`,
      { cause: error },
    );
  }
  if (UNTRUSTED.has(code) || code.startsWith("ERR_TLS") || code.startsWith("CERT_")) {
    return new ServiceError(
      "untrusted",
      `the certificate of ${url.host} is not trusted (${error.message.replace(NODES_HINT, "")}). Something in between may answer for it, ` +
        "such as a proxy that opens TLS. If its operator says that it has its own CA, give that: " +
        "`attestore init --ca-file FILE`, or `service.ca_file` in config.yaml if the service was set up again.",
      { cause: error },
    );
  }
  if (code.startsWith("ERR_SSL") || code === "EPROTO") {
    return new ServiceError("untrusted", `${url.host} does not speak TLS 1.3 (${code})`, { cause: error });
  }
  if (code === "ERR_PROXY_TUNNEL") {
    // Node's message names the proxy, without its password, and its answer.
    return new ServiceError(
      "unreachable",
      `${url.host} can't be reached through the proxy (${error.message})`,
      {
        cause: error,
      },
    );
  }
  return unreachable(url, error);
}

/** Of its options, which nobody passes to this program. */
const NODES_HINT = /; if the root CA is installed locally.*$/;

const UNTRUSTED = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "HOSTNAME_MISMATCH",
]);
