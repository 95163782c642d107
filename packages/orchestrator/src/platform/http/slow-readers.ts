import type { Socket } from "node:net";
import type { Server } from "node:http";
import { Server as TlsServer } from "node:tls";

/** A client that takes nothing of what waits for it in this time is let go. */
const WITHIN_MS = 60_000;

interface Waiting {
  taken: number;
  since: number;
}

/**
 * Destroys connections whose clients do not read: answers, downloads and streams alike, whatever holds what waits for them. What the system
 * has taken on is no longer counted.
 */
export function letGoOfSlowReaders(server: Server, { within_ms = WITHIN_MS } = {}): void {
  const sockets = new Map<Socket, Waiting | null>();
  server.on(server instanceof TlsServer ? "secureConnection" : "connection", (socket: Socket) => {
    sockets.set(socket, null);
    socket.once("close", () => sockets.delete(socket));
  });
  const look = (): void => {
    const now = performance.now();
    for (const [socket, before] of sockets) {
      const taken = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0) sockets.set(socket, null);
      else if (before === null || taken > before.taken) sockets.set(socket, { taken, since: now });
      else if (now - before.since >= within_ms) socket.destroy();
    }
  };
  const timer = setInterval(look, within_ms / 6);
  timer.unref();
  server.once("close", () => clearInterval(timer));
}
