import type { Socket } from "node:net";
import type { Server as TlsServer, TLSSocket } from "node:tls";
import { clientNetwork } from "./client-network.ts";

/**
 * How long a client may take for its handshake: the server's `handshakeTimeout`, after which it
 * emits `tlsClientError`.
 */
export const HANDSHAKE_MS = 10_000;
/**
 * Limits for connections without a finished handshake, for one address and in all. Agents behind
 * one address come back together after a restart.
 */
const MOST_OF_ADDRESS = 1024;
const MOST = 8192;

/**
 * Destroys connections whose TLS handshake failed or took too long, and immediately those that come
 * while too many of their address, or in all, are unfinished. Nothing has been sent on them that
 * could be answered: `end` would wait for the other side for ever.
 */
export function limitHandshakes(
  server: TlsServer,
  { mostOfAddress = MOST_OF_ADDRESS, most = MOST }: { mostOfAddress?: number; most?: number } = {},
): void {
  const waiting = new Map<string, () => void>();
  const byAddress = new Map<string, number>();
  const isTaken = (socket: Socket): boolean => {
    const { remoteAddress, remotePort } = socket;
    if (remoteAddress === undefined) return false;
    const network = clientNetwork(remoteAddress);
    const own = byAddress.get(network) ?? 0;
    if (own >= mostOfAddress || waiting.size >= most) return false;
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
  const begin = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    if (!isTaken(socket)) socket.destroy();
    else for (const listener of begin) listener.call(server, socket);
  });
  server.on("secureConnection", ({ remoteAddress, remotePort }: TLSSocket) =>
    waiting.get(`${remoteAddress} ${remotePort}`)?.(),
  );
  server.prependListener("tlsClientError", (_error: Error, socket: TLSSocket) => socket.destroy());
}
