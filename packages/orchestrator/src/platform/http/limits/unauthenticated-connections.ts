import type { IncomingMessage, ServerResponse } from "node:http";
import { BlockList, isIP, isIPv6, type Socket } from "node:net";
import type { Server as TlsServer, TLSSocket } from "node:tls";
import { clientNetwork } from "./client-network.ts";

/**
 * How long a client may take for its handshake: the server's `handshakeTimeout`, after which it
 * emits `tlsClientError`. A connection on which nobody has shown who they are may also have no
 * request for so long, and take so long for a request's headers.
 */
export const UNAUTHENTICATED_MS = 10_000;
/**
 * Limits for connections on which no request was authenticated yet, for one address and in all.
 * Agents behind one address come back together after a restart.
 */
export const MOST_OF_ADDRESS = 1024;
const MOST = 8192;

export interface ConnectionLimits {
  within_ms?: number;
  mostOfAddress?: number;
  most?: number;
  /** A connection from this network was refused, because there are too many of it, or in all. */
  onRefused?: (network: string) => void;
}

/**
 * Of the files that the process may open, at most half are for strangers, and a quarter for those
 * of one address: the rest is for agents, the database and objects.
 */
export function withinOpenFiles(
  files: number,
  mostOfAddress: number,
): Required<Pick<ConnectionLimits, "most" | "mostOfAddress">> {
  return {
    most: Math.min(MOST, Math.floor(files / 2)),
    mostOfAddress: Math.min(mostOfAddress, Math.floor(files / 4)),
  };
}

interface Unauthenticated {
  /** In flight. */
  requests: number;
  idle: NodeJS.Timeout | undefined;
  /** Frees its place. */
  over: (() => void) | undefined;
}

const unauthenticated = new WeakMap<Socket, Unauthenticated>();

/** A request on this connection had a valid credential, which includes a signed URL. */
export function connectionAuthenticated({ socket }: IncomingMessage): void {
  const connection = unauthenticated.get(socket);
  unauthenticated.delete(socket);
  clearTimeout(connection?.idle);
  connection?.over?.();
}

/**
 * Destroys connections whose TLS handshake failed or took too long, those that stay without a
 * request before anybody was authenticated on them, and immediately those that come while too many
 * of their address, or in all, are unauthenticated. Nothing has been sent on them that could be
 * answered: `end` would wait for the other side for ever. A trusted proxy's connections are many
 * clients', and the proxy decides how long it keeps them: only their handshakes are limited.
 */
export function limitUnauthenticated(
  server: TlsServer,
  {
    within_ms = UNAUTHENTICATED_MS,
    mostOfAddress = MOST_OF_ADDRESS,
    most = MOST,
    onRefused,
  }: ConnectionLimits = {},
  trustedProxies: readonly string[] = [],
): void {
  const isProxy = matcher(trustedProxies);
  const waiting = new Map<string, () => void>();
  const byAddress = new Map<string, number>();
  const isTaken = (socket: Socket): boolean => {
    const { remoteAddress, remotePort } = socket;
    if (remoteAddress === undefined) return false;
    const network = clientNetwork(remoteAddress);
    const own = byAddress.get(network) ?? 0;
    if (own >= mostOfAddress || waiting.size >= most) {
      onRefused?.(network);
      return false;
    }
    const name = `${remoteAddress} ${remotePort}`;
    const over = (): void => {
      if (waiting.get(name) !== over) return;
      waiting.delete(name);
      const left = (byAddress.get(network) ?? 1) - 1;
      if (left === 0) byAddress.delete(network);
      else byAddress.set(network, left);
    };
    waiting.set(name, over);
    byAddress.set(network, own + 1);
    socket.once("close", over);
    return true;
  };
  // TLS must not see refused connections: destroying one during its handshake crashes the process.
  const listeners = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    if (!isTaken(socket)) socket.destroy();
    else for (const listener of listeners) listener.call(server, socket);
  });
  const begin = (socket: Socket, connection: Unauthenticated): void => {
    connection.idle = setTimeout(() => socket.destroy(), within_ms).unref();
  };
  server.on("secureConnection", (socket: TLSSocket) => {
    const { remoteAddress = "", remotePort } = socket;
    const over = waiting.get(`${remoteAddress} ${remotePort}`);
    if (isProxy(remoteAddress)) return over?.();
    const connection: Unauthenticated = { requests: 0, idle: undefined, over };
    unauthenticated.set(socket, connection);
    socket.once("close", () => clearTimeout(connection.idle));
    begin(socket, connection);
  });
  server.prependListener("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = unauthenticated.get(socket);
    if (connection === undefined) return;
    connection.requests += 1;
    clearTimeout(connection.idle);
    response.once("close", () => {
      connection.requests -= 1;
      if (connection.requests === 0 && unauthenticated.has(socket)) begin(socket, connection);
    });
  });
  server.prependListener("tlsClientError", (_error: Error, socket: TLSSocket) => socket.destroy());
}

/** Whether an address is one of these or in one of these networks. */
function matcher(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const bare = address.replace(/%.*$/, "");
    return isIP(bare) !== 0 && list.check(bare, isIPv6(bare) ? "ipv6" : "ipv4");
  };
}
