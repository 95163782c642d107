import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { vi } from "vitest";
import type { ConnectionSettings } from "../../src/platform/database/connection-settings.ts";
import { query } from "./test-services.ts";

/**
 * A connection as a standby's to its primary, in the cluster of that directory, whose rules admit
 * none by themselves.
 */
export async function connectStandby(connection: ConnectionSettings, cluster: string): Promise<pg.Client> {
  await appendFile(join(cluster, "pg_hba.conf"), "local replication all peer map=service\n");
  await query(connection, "select pg_reload_conf()");
  // The server reads its rules again in its own time.
  return vi.waitFor(
    async () => {
      const standby = new pg.Client({ ...connection, replication: "true" } as pg.ClientConfig);
      await standby.connect();
      return standby;
    },
    { timeout: 30_000 },
  );
}
