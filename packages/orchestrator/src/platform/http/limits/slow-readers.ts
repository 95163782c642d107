import type { Socket } from "node:net";
import type { Server } from "node:http";
import { Server as TlsServer } from "node:tls";

/** A client that reads nothing for this long is disconnected. */
const WITHIN_MS = 60_000;
/**
 * The number of looks in that time. Counts looks instead of reading a clock, because a suspended
 * process cannot see anybody read.
 */
const LOOKS = 6;

interface Waiting {
  taken: number;
  /** How many looks in a row saw the client read nothing. */
  idleLooks: number;
}

/**
 * Disconnects clients that do not read what is sent to them, whether an answer, a download or a
 * stream. Bytes that the kernel has taken do not count.
 */
export function letGoOfSlowReaders(server: Server, { within_ms = WITHIN_MS } = {}): void {
  const sockets = new Map<Socket, Waiting | null>();
  server.on(server instanceof TlsServer ? "secureConnection" : "connection", (socket: Socket) => {
    sockets.set(socket, null);
    socket.once("close", () => sockets.delete(socket));
  });
  const look = (): void => {
    for (const [socket, before] of sockets) {
      const taken = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0) sockets.set(socket, null);
      else if (before === null || taken > before.taken) sockets.set(socket, { taken, idleLooks: 0 });
      else if ((before.idleLooks += 1) >= LOOKS) socket.destroy();
    }
  };
  const timer = setInterval(look, within_ms / LOOKS);
  timer.unref();
  server.once("close", () => clearInterval(timer));
}
