import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage } from "node:http";

/**
 * Reports each request that this process sends: method, host, path, status and time. Never the
 * query or a token in the path: these authorise a signed URL, or a host that waits for its
 * approval.
 */
export function reportRequests(tell: (text: string) => void): void {
  const begun = new WeakMap<ClientRequest, number>();
  subscribe("http.client.request.start", (message) => {
    begun.set((message as { request: ClientRequest }).request, performance.now());
  });
  subscribe("http.client.response.finish", (message) => {
    const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
    tell(`${described(request)}: ${response.statusCode ?? 0} in ${spent(begun, request)} ms`);
  });
  subscribe("http.client.request.error", (message) => {
    const { request, error } = message as { request: ClientRequest; error: Error };
    tell(`${described(request)}: ${error.message} after ${spent(begun, request)} ms`);
  });
}

function described({ method, host, path }: ClientRequest): string {
  return `${method} ${host}${withoutSecrets(path)}`;
}

const TOKEN = /\bat[a-z]?_[A-Za-z0-9_-]{20,}/g;

export function withoutSecrets(path: string): string {
  return (path.split("?")[0] ?? "").replaceAll(TOKEN, "…");
}

function spent(begun: WeakMap<ClientRequest, number>, request: ClientRequest): number {
  return Math.round(performance.now() - (begun.get(request) ?? performance.now()));
}
