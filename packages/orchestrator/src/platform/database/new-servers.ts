import type { ClientBase } from "pg";
import { withClient } from "./client.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import { roleOf } from "./roles.ts";
import type { DatabaseClient } from "./servers.ts";
import { DatabaseUnavailable } from "./unavailable.ts";

const CHECK = { name: "new server", statement_ms: 60_000 };

/**
 * Has a check done on each server that this process has not worked with yet, before the first
 * connection to it is used. A database can only be set back by another server's taking over, or by
 * a restart: all its connections end with it. So whoever gets a connection works with a database
 * that was checked.
 */
export class NewServers {
  readonly #connection: ConnectionSettings;
  readonly #check: (client: DatabaseClient) => Promise<void>;
  /** By the server's start; the checks that failed are done again. */
  readonly #checked = new Map<string, Promise<void>>();
  #listener: () => void = () => undefined;

  /** @param check works as the role for jobs, on a connection of its own */
  constructor(connection: ConnectionSettings, check: (client: DatabaseClient) => Promise<void>) {
    this.#connection = connection;
    this.#check = check;
  }

  /** Calls `listener` after each check of a further server. */
  onChecked(listener: () => void): void {
    this.#listener = listener;
  }

  /** Resolves when the server of this new connection was checked. */
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

/** No two servers have started in the same microsecond. */
async function serverOf(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ started: string }>(
    "select extract(epoch from pg_postmaster_start_time())::text as started",
  );
  return rows[0]?.started ?? "";
}
