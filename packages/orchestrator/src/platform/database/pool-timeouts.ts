import { setTimeout as delay } from "node:timers/promises";
import type { Socket } from "node:net";
import pg from "pg";
import { END_WITHIN_MS, socketOf } from "./end-client.ts";
import { onConnect } from "./on-connect.ts";
import type { NewServers } from "./new-servers.ts";
import { DatabaseClient } from "./servers.ts";
import { SilentConnections } from "./silent-connections.ts";

/** How long a pool waits for its server, and its server for it; 0 for as long as it takes. */
export interface PoolTimeouts {
  /** The server itself ends a statement that takes longer (`statement_timeout`). */
  statement_ms: number;
  /** A connection that leaves a statement without a single byte for so long is given up. */
  silence_ms: number;
  /**
   * The server itself ends a connection whose transaction waits for its client that long
   * (`idle_in_transaction_session_timeout`). So it releases the locks of a client that vanished.
   * Between two statements, a transaction only computes or asks the object store.
   */
  idle_ms: number;
}

/** People and agents wait for these. */
export const REQUEST_TIMEOUTS: PoolTimeouts = {
  statement_ms: 30_000,
  silence_ms: 35_000,
  idle_ms: 60_000,
};
/** Work by the clock goes through many rows at once. */
export const JOB_TIMEOUTS: PoolTimeouts = {
  statement_ms: 300_000,
  silence_ms: 330_000,
  idle_ms: 60_000,
};
/** All later submissions wait behind a batch. */
export const LOG_TIMEOUTS: PoolTimeouts = { statement_ms: 15_000, silence_ms: 20_000, idle_ms: 30_000 };
/** Somebody waits for a command, and can stop it. Its locks must not stay after that. */
export const CONSOLE_TIMEOUTS: PoolTimeouts = { statement_ms: 0, silence_ms: 0, idle_ms: 60_000 };

const CONNECT_WITHIN_MS = 5_000;

/**
 * A pool that a vanished server cannot block. When its host is gone, or a firewall drops the
 * connection's packets, nobody closes the connection: TCP sends the statement again and again for a
 * quarter of an hour, and Node has no TCP_USER_TIMEOUT. So a statement without an answer in time
 * fails, and its connection is never used again. Keep-alive finds the idle ones within 20 seconds.
 */
export class DatabasePool extends pg.Pool {
  readonly #sockets: Set<Socket>;
  #ended: Promise<void> | null = null;

  /**
   * @param timeouts none for commands that look through everything
   * @param prepare statements that run on each new connection before anybody gets it
   * @param servers whose check each new connection waits for
   */
  constructor(
    settings: pg.PoolConfig,
    timeouts: PoolTimeouts | undefined,
    prepare: readonly string[],
    servers?: NewServers,
  ) {
    const sockets = new Set<Socket>();
    const silence_ms = timeouts?.silence_ms ?? 0;
    const silent = silence_ms === 0 ? null : new SilentConnections(silence_ms);
    super({
      ...settings,
      Client: DatabaseClient,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      onConnect: onConnect(async (client) => {
        const socket = socketOf(client);
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket));
        silent?.watch(socket);
        await client.query(
          [...(timeouts === undefined ? [] : [serverSide(timeouts)]), ...prepare].join("; "),
        );
        await servers?.admit(client);
      }),
    });
    this.#sockets = sockets;
  }

  /**
   * Waits for running statements, but neither for a server that no longer answers nor for work that
   * keeps its connection.
   */
  override end(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  /** Connections that the pool gave up earlier, when they were idle, may still be open. */
  async #end(): Promise<void> {
    const ended = super.end();
    const closed = ended.then(() => Promise.all([...this.#sockets].map(closing)));
    const isLate = delay(END_WITHIN_MS, true, { ref: false });
    if (!(await Promise.race([closed.then(() => false), isLate]))) return;
    for (const socket of this.#sockets) socket.destroy();
    // Work whose statements fail now gives its connection back, unless it waits for something else.
    const waiting = new AbortController();
    const tooLate = delay(END_WITHIN_MS, undefined, { signal: waiting.signal }).catch(() => undefined);
    await Promise.race([ended, tooLate]);
    waiting.abort();
  }
}

function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.once("close", () => resolve()));
}

/**
 * As a statement, because poolers refuse such settings at the start of a connection. The last one
 * has the server give up a client that takes no more of an answer. A server that does not know a
 * setting keeps its own way.
 */
function serverSide({ statement_ms, idle_ms }: PoolTimeouts): string {
  const wanted = {
    statement_timeout: statement_ms,
    idle_in_transaction_session_timeout: idle_ms,
    tcp_user_timeout: statement_ms,
  };
  const rows = Object.entries(wanted).map(([name, value]) => `('${name}', '${value}')`);
  return `select set_config(name, value, false) from (values ${rows.join(", ")}) as wanted (name, value)
    where name in (select name from pg_settings)`;
}
