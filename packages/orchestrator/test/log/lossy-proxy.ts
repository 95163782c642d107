import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConnectionSettings } from "../../src/platform/database/connection-settings.ts";

export interface LossyProxy {
  connection: ConnectionSettings;
  /**
   * From now on a connection that sends COMMIT is cut: before the server gets it, or before its
   * answer gets back.
   */
  cutAtCommit(when: "before" | "after" | "never"): void;
  close(): Promise<void>;
}

/** Stands between a client and PostgreSQL's socket, and loses connections at the worst moments. */
export async function openLossyProxy(server: ConnectionSettings): Promise<LossyProxy> {
  const directory = await mkdtemp(join(tmpdir(), "lossy-"));
  const target = join(server.host ?? "", `.s.PGSQL.${server.port ?? 5432}`);
  const open = new Set<Socket>();
  let cut: "before" | "after" | "never" = "never";

  const proxy = createServer((client) => {
    const upstream = connect(target);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => open.delete(socket));
    }
    let committing = false;
    client.on("data", (bytes: Buffer) => {
      if (cut !== "never" && bytes.includes("commit\0")) {
        if (cut === "before") {
          client.destroy();
          upstream.destroy();
          return;
        }
        committing = true;
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes: Buffer) => {
      // "COMMIT" as the server's command tag: it is durable now, and nobody will hear of it.
      if (committing && bytes.includes("COMMIT\0")) client.destroy();
      else client.write(bytes);
    });
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  proxy.listen(join(directory, ".s.PGSQL.5432"));
  await once(proxy, "listening");
  return {
    connection: { ...server, host: directory, port: 5432 },
    cutAtCommit: (when) => {
      cut = when;
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      proxy.close();
      await once(proxy, "close");
      await rm(directory, { recursive: true });
    },
  };
}
