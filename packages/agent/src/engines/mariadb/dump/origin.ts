import type { Origin } from "../../engine.ts";
import { digestOf } from "../../origin.ts";
import type { MariadbSession } from "../connection/session.ts";

/**
 * Identifies the server: by the id of its Galera cluster, which all members share; else by MySQL's
 * own id of the server; else by its name, port and data directory. A replica that is no member of
 * such a cluster is another server.
 * @throws SessionEnded
 */
export async function originOf(session: MariadbSession, database: string | null): Promise<Origin> {
  const first = async (sql: string): Promise<readonly string[]> => {
    const asked = await session.run(sql);
    return asked.ok ? (asked.rows[0] ?? []) : [];
  };
  const of = database === null ? {} : { database };
  const [hostname = "", datadir = "", port = ""] = await first(
    "select @@global.hostname, @@global.datadir, @@global.port",
  );
  const host = hostname === "" ? null : `${hostname}:${port}`;
  const [, cluster = ""] = await first("show global status like 'wsrep_cluster_state_uuid'");
  if (/[1-9a-f]/.test(cluster)) return { identity: { cluster_uuid: cluster, ...of }, host };
  const [uuid] = await first("select @@global.server_uuid");
  if (uuid !== undefined) return { identity: { server_uuid: uuid, ...of }, host };
  return { identity: { hostname, port, datadir_sha256: digestOf(datadir), ...of }, host };
}
