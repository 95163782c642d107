import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Place } from "../place.ts";
import { makeSocketDirectory } from "../process/scratch-directory.ts";

export interface RelayedSocket {
  /** The path at which this process reaches it. */
  readonly path: string;
  close(): Promise<void>;
}

/** A unix socket of a place, for a driver in this process. */
export async function relaySocket(place: Place, path: string, signal: AbortSignal): Promise<RelayedSocket> {
  if (place.connect === undefined) return { path, close: () => Promise.resolve() };
  const directory = await makeSocketDirectory(null);
  const server = createServer((socket) => {
    const connecting =
      place.connect?.(path, signal) ?? Promise.reject(new Error("not a place with connections"));
    void connecting

      .then((child) => {
        socket.once("close", () => void child.stop());
        return Promise.all([pipeline(socket, child.stdin), pipeline(child.stdout, socket)]);
      })
      .catch(() => socket.destroy());
  });
  const own = join(directory.path, "s.sock");
  server.listen(own);
  await once(server, "listening");
  return {
    path: own,
    close: async () => {
      server.close();
      await directory.remove();
    },
  };
}
