import type { ClientBase } from "pg";
import { withClient } from "./client.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import { roleOf } from "./roles.ts";
import type { DatabaseClient } from "./servers.ts";
import { DatabaseUnavailable } from "./unavailable.ts";

const CHECK = { name: "new server", statement_ms: 60_000 };

/**
 * Has a check done on each database that this process has not worked with yet, before the first
 * connection to it is used. If another server takes over, a server starts from an older state, or a
 * database is made anew, all connections end. So whoever gets a connection works with a database
 * that was checked. A dump that is loaded into the present database goes unnoticed here.
 */
export class NewServers {
  readonly #connection: ConnectionSettings;
  readonly #check: (client: DatabaseClient) => Promise<void>;
  /** By the start of the server and the database's oid. A failed check is done again. */
  readonly #checked = new Map<string, Promise<void>>();
  #listener: () => void = () => undefined;

  /** @param check works as the role for jobs, on a connection of its own */
  constructor(connection: ConnectionSettings, check: (client: DatabaseClient) => Promise<void>) {
    this.#connection = connection;
    this.#check = check;
  }

  /** Calls `listener` after each check that succeeds from now on. */
  onChecked(listener: () => void): void {
    this.#listener = listener;
  }

  /**
   * Resolves once the server of this new connection is checked.
   * @throws what the check throws
   */
  async admit(client: ClientBase): Promise<void> {
    const server = await serverOf(client);
    const known = this.#checked.get(server);
    if (known !== undefined) return known;
    const checking = this.#checkServer(server);
    this.#checked.set(server, checking);
    checking.catch(() => this.#checked.delete(server));
    return checking;
  }

  async #checkServer(server: string): Promise<void> {
    await withClient(this.#connection, CHECK, async (client) => {
      // During a failover this may already be the next one.
      if ((await serverOf(client)) !== server)
        throw new DatabaseUnavailable(null, "Another server took over while this one was checked.");
      await client.query(`set role ${roleOf("jobs")}`);
      await this.#check(client);
    });
    this.#listener();
  }
}

/** We take it that no two servers start in the same microsecond. */
async function serverOf(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ server: string }>(
    "select extract(epoch from pg_postmaster_start_time())::text || ' ' || oid::text as server from pg_database where datname = current_database()",
  );
  return rows[0]?.server ?? "";
}
