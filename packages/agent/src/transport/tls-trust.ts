import { Agent, type AgentOptions } from "node:https";
import { getCACertificates } from "node:tls";
import { proxyEnvironment } from "./proxy.ts";

const KEEP_ALIVE: AgentOptions = {
  keepAlive: true,
  keepAliveMsecs: 30_000,
  maxSockets: 8,
  scheduling: "lifo",
};

/**
 * Connections to the service use TLS 1.3, and with a pinned certificate nothing else is trusted.
 * The pinned one may be a leaf or a CA. A proxy (HTTPS_PROXY) only carries bytes: TLS is with the
 * service itself. @throws UserError for a malformed proxy
 */
export function serviceConnections(pinnedCa: string | null): Agent {
  return new Agent({
    ...KEEP_ALIVE,
    proxyEnv: { ...proxyEnvironment() },
    minVersion: "TLSv1.3",
    ...(pinnedCa === null ? {} : { ca: pinnedCa, allowPartialTrustChain: true }),
  });
}

/** Connections to object stores: the service itself, or a host with a public certificate. */
export function objectConnections(pinnedCa: string | null): Agent {
  return new Agent({
    ...KEEP_ALIVE,
    proxyEnv: { ...proxyEnvironment() },
    minVersion: "TLSv1.2",
    ...(pinnedCa === null
      ? {}
      : { ca: [pinnedCa, ...getCACertificates("default")], allowPartialTrustChain: true }),
  });
}
