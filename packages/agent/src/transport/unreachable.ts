import { ServiceError } from "./service-error.ts";
import { proxyHost } from "./proxy.ts";

const NEXT: Readonly<Record<string, string>> = {
  ENOTFOUND: "nobody knows that name: check its spelling, and this host's DNS",
  EAI_AGAIN: "the name server does not answer: check this host's DNS (/etc/resolv.conf)",
  ECONNREFUSED: "nothing listens there: does it run, and is the port right?",
  EHOSTUNREACH: "there is no way there: check this host's network and the firewall",
  ENETUNREACH: "there is no way there: check this host's network and the firewall",
  ETIMEDOUT: "no answer came: check the firewall, and whether that machine runs",
};

/** Who could not be reached, why, and what to look at. Behind a proxy that may be the proxy. */
export function unreachable(url: URL, error: Error & { readonly code?: unknown }): ServiceError {
  // An AggregateError, for a host all of whose addresses failed, has no message of its own.
  const code = typeof error.code === "string" ? error.code : "";
  const proxy = triedProxy(url, error);
  const who =
    proxy === null
      ? `${url.host} can't be reached`
      : `${url.host} can't be reached through the proxy ${proxy}`;
  const next = NEXT[code];
  const text = `${who} (${error.message || code})${next === undefined ? "" : `: ${next}`}`;
  return new ServiceError("unreachable", text, { cause: error });
}

/** The proxy, if the connection that failed was one to it. */
function triedProxy(url: URL, error: Error): string | null {
  const proxy = proxyHost();
  if (proxy === null) return null;
  const { hostname, port } = new URL(`http://${proxy}`);
  // Of a name with several addresses, each failed at the same port.
  const failure: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const to = (failure ?? {}) as { readonly hostname?: unknown; readonly port?: unknown };
  const isProxy =
    to.hostname === undefined
      ? to.port === Number(port || 80) && port !== url.port
      : to.hostname === hostname;
  return isProxy ? proxy : null;
}
