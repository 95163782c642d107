import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { ConnectionSettings } from "../src/platform/database/connection-settings.ts";

/** A way to a database that a test can cut and restore. */
export interface DatabaseSwitch {
  connection: ConnectionSettings;
  /** Ends the connections that there are and takes no more. */
  off(): void;
  on(): void;
  close(): Promise<void>;
}

/** Passes connections on to the server of `target`, byte for byte. */
export async function openDatabaseSwitch(target: ConnectionSettings): Promise<DatabaseSwitch> {
  const sockets = new Set<Socket>();
  let isOn = true;
  const server = createServer((client) => {
    if (!isOn) {
      client.destroy();
      return;
    }
    const behind = connect({ path: `${target.host}/.s.PGSQL.${target.port}` });
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
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
      isOn = false;
      cut();
    },
    on: () => {
      isOn = true;
    },
    close: async () => {
      cut();
      await new Promise((closed) => {
        server.close(closed);
      });
    },
  };
}
