import type { Socket } from "node:net";

interface Heard {
  /** What was written until the server last said something. */
  bytes: number;
  at: number;
}

/**
 * Gives up connections whose server leaves a statement without a single byte for so long, and with
 * them those that nobody uses and that were not heard of since: they took the same way.
 */
export class SilentConnections {
  readonly #silence_ms: number;
  readonly #heard = new Map<Socket, Heard>();

  constructor(silence_ms: number) {
    this.#silence_ms = silence_ms;
  }

  watch(socket: Socket): void {
    const heard = { bytes: socket.bytesWritten, at: performance.now() };
    this.#heard.set(socket, heard);
    socket.once("close", () => this.#heard.delete(socket));
    socket.on("data", () => {
      heard.bytes = socket.bytesWritten;
      heard.at = performance.now();
    });
    socket.setTimeout(this.#silence_ms);
    // A listener that is given to setTimeout hears only of the first time, which may be idleness.
    socket.on("timeout", () => {
      // Nothing was written or read for so long: either nobody asked, or nobody answered.
      if (socket.bytesWritten > heard.bytes) this.#giveUp(socket);
    });
  }

  #giveUp(socket: Socket): void {
    socket.destroy(silent(this.#silence_ms));
    for (const [other, { bytes, at }] of this.#heard)
      if (other.bytesWritten === bytes && performance.now() - at >= this.#silence_ms)
        other.destroy(silent(this.#silence_ms));
  }
}

/** The error that the kernel would report in the end. */
function silent(silence_ms: number): Error {
  const error = new Error(`the database has not answered for ${silence_ms / 1000} s`);
  return Object.assign(error, { code: "ETIMEDOUT", syscall: "read" });
}
