import { type IncomingMessage, request as requestHttp, type Agent as HttpAgent } from "node:http";
import { request as requestHttps } from "node:https";
import { connectionError, refuseUpgrade } from "../../transport/exchange.ts";
import { isTransient } from "../../transport/service-error.ts";
import type { RemoteAnswer } from "./remote-files.ts";
import { UnreadableRepository } from "./repository.ts";

const IDLE_MS = 60_000;

/**
 * Sends one request. The caller reads the answer's body as it arrives. It follows no redirection.
 * @throws UnreadableRepository
 */
export function askHttps(
  method: "GET" | "HEAD",
  url: URL,
  headers: Readonly<Record<string, string>>,
  connections: HttpAgent,
  signal: AbortSignal,
): Promise<RemoteAnswer> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      const failed = connectionError(url, error);
      reject(new UnreadableRepository(failed.message, { cause: error, mayPass: isTransient(failed) }));
    };
    const request = url.protocol === "https:" ? requestHttps : requestHttp;
    const options = { method, agent: connections, headers, signal };
    const outgoing = request(url, options, (incoming: IncomingMessage) => {
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: incoming });
    });
    outgoing.on("error", fail);
    refuseUpgrade(outgoing, fail);
    outgoing.setTimeout(IDLE_MS, () => outgoing.destroy(new Error(`silent for ${IDLE_MS / 1000} s`)));
    outgoing.end();
  });
}
