import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { ConnectionSettings } from "../src/platform/database/connection-settings.ts";

/** A way to a database that a test can cut and restore. */
export interface DatabaseSwitch {
  connection: ConnectionSettings;
  /** Ends the connections that there are and takes no more. */
  off(): void;
  /** How many connections it did not take. */
  refused(): number;
  /**
   * As if the host were gone: nothing comes through any more, and no connection is closed. New ones
   * are taken, and nobody answers.
   */
  hang(): void;
  /** For new connections. Those that hang stay as they are. */
  on(): void;
  close(): Promise<void>;
}

/** Passes connections on to the server of `target`, byte for byte. */
export async function openDatabaseSwitch(target: ConnectionSettings): Promise<DatabaseSwitch> {
  const sockets = new Set<Socket>();
  let state: "on" | "off" | "hanging" = "on";
  let refused = 0;
  const server = createServer((client) => {
    if (state === "off") {
      refused++;
      client.destroy();
      return;
    }
    if (state === "hanging") {
      sockets.add(client.on("error", () => undefined));
      return;
    }
    const behind = connect({ path: `${target.host}/.s.PGSQL.${target.port}` });
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        if (state === "hanging") return;
        client.destroy();
        behind.destroy();
      });
    }
    client.pipe(behind).pipe(client);
  });
  await new Promise<void>((listening) => {
    server.listen(0, "127.0.0.1", listening);
  });
  const { port } = server.address() as AddressInfo;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    connection: { ...target, host: "127.0.0.1", port },
    off: () => {
      state = "off";
      cut();
    },
    refused: () => refused,
    hang: () => {
      state = "hanging";
      for (const socket of sockets) socket.unpipe().pause();
    },
    on: () => {
      state = "on";
    },
    close: async () => {
      cut();
      await new Promise((closed) => {
        server.close(closed);
      });
    },
  };
}
