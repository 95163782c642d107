import { setTimeout as delay } from "node:timers/promises";
import { errorMessage } from "@attestore/host/errno";
import type { Logger } from "../logging/logger.ts";
import { withClient } from "./client.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import type { DatabaseClient } from "./servers.ts";

const EVERY_MS = 10_000;
const ANSWER_MS = 5_000;
/** Times in a row that the server may not answer before the work is given up. */
const UNANSWERED = 3;

/**
 * Does something on this client that may take long, and says every few seconds that it still runs
 * and which connections it waits for. If the server's process for it is gone, or the server does
 * not answer other connections either, the client is closed and the work fails.
 */
export async function watched<T>(
  client: DatabaseClient,
  { connection, log, what, every_ms = EVERY_MS, answer_ms = ANSWER_MS }: Watch,
  work: () => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const watching = watch(
    client,
    rows[0]?.pid ?? 0,
    { connection, log, what, every_ms, answer_ms },
    done.signal,
  );
  try {
    return await work();
  } finally {
    done.abort();
    await watching;
  }
}

export interface Watch {
  connection: ConnectionSettings;
  log: Logger;
  /** The name of the work, for the log. */
  what: string;
  every_ms?: number;
  /** The most that the server may take to answer another connection. */
  answer_ms?: number;
}

async function watch(
  client: DatabaseClient,
  pid: number,
  { connection, log, what, every_ms, answer_ms }: Required<Watch>,
  signal: AbortSignal,
): Promise<void> {
  const since = performance.now();
  let unanswered = 0;
  for (;;) {
    await delay(every_ms, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      const waits_for = await blockers(connection, pid, answer_ms);
      if (signal.aborted) return;
      unanswered = 0;
      if (waits_for === null) return giveUp(client);
      const seconds = Math.round((performance.now() - since) / 1000);
      if (waits_for.length > 0) log.warn({ what, seconds, waits_for }, "waiting for other connections");
      else log.info({ what, seconds }, "the database is still at work");
    } catch (error) {
      if (signal.aborted) return;
      unanswered += 1;
      log.warn({ what, reason: errorMessage(error) }, "the database does not answer");
      if (unanswered === UNANSWERED) return giveUp(client);
    }
  }
}

/** Null if the server has no such process. */
async function blockers(
  connection: ConnectionSettings,
  pid: number,
  answer_ms: number,
): Promise<string[] | null> {
  return withClient(
    connection,
    { name: "waits", statement_ms: answer_ms, connect_ms: answer_ms },
    async (client) => {
      const { rows } = await client.query<{ waits_for: string[] }>(
        `select array(select concat('process ', blocker, nullif(concat(' (', application_name, ')'), ' ()'))
          from unnest(pg_blocking_pids(pid)) as blocker left join pg_stat_activity as other on other.pid = blocker) as waits_for
        from pg_stat_activity where pid = $1`,
        [pid],
      );
      return rows[0]?.waits_for ?? null;
    },
  );
}

function giveUp(client: DatabaseClient): void {
  const error = new Error("the database has given this connection up, or does not answer");
  client.connection.stream.destroy(Object.assign(error, { code: "ETIMEDOUT", syscall: "read" }));
}
