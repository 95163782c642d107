import type { Client, Pool } from "pg";
import { type RawBuilder, sql } from "kysely";
import { Gathered } from "./gathered.ts";
import { DatabaseUnavailable } from "./unavailable.ts";

/** The function of PostgreSQL in which a commit waits for its standbys. Never translated. */
const WAIT = "SyncRepWaitForLSN";

/**
 * A commit that somebody had wait no longer for its standby. It is done on this server alone: a
 * failover may lose it.
 */
export class NotReplicated extends DatabaseUnavailable {
  constructor(notice: unknown) {
    super(
      notice,
      "A commit was ended while it waited for the standby (pg_cancel_backend or a shutdown), so it is not acknowledged. Try again.",
    );
    this.name = "NotReplicated";
  }
}

const ended = new WeakMap<object, NotReplicated>();

/**
 * Fails a statement of this client whose commit did not wait for the standby to the end. PostgreSQL
 * only warns of that, and then answers as if all were well. The connection is not used again.
 */
export function failUnreplicatedCommits(client: Client): void {
  client.connection.on("notice", (notice: { routine?: string }) => {
    if (notice.routine !== WAIT) return;
    const error = new NotReplicated(notice);
    ended.set(client, error);
    // As PostgreSQL's own errors come: it fails what runs at the moment, whoever waits for it.
    client.connection.emit("errorMessage", error);
    client.connection.stream.destroy();
  });
}

/** Why nothing runs on this client any more, if its commit was not replicated. */
export function notReplicated(client: object): NotReplicated | null {
  return ended.get(client) ?? null;
}

/** Puts an empty message into the write-ahead log, unless no commit waits for a standby. */
const WRITE =
  "select pg_logical_emit_message(true, 'attestore', '') where current_setting('synchronous_standby_names', true) <> ''";

/**
 * In a transaction that only reads: has its commit wait until the standby has everything that the
 * transaction saw.
 */
export const AWAIT_STANDBY: RawBuilder<unknown> = sql.raw(WRITE);

/**
 * Resolves once the standby has everything that anybody could see when it was called. That differs
 * after a commit whose wait was ended, on any connection, and after a crash. Those who ask at the
 * same time wait for one write.
 */
export function standbyWait(pool: Pick<Pool, "query">): () => Promise<void> {
  const waits = new Gathered<null, null>({
    run: async (asked) => {
      await pool.query(WRITE);
      return asked;
    },
    wait_ms: 0,
    maxWeight: Number.POSITIVE_INFINITY,
  });
  return async () => {
    await waits.do(null);
  };
}
