import { setTimeout as delay } from "node:timers/promises";
import { errorMessage } from "@attestore/host/errno";
import { sql } from "kysely";
import type { Logger } from "../logging/logger.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import { endClient } from "./end-client.ts";
import { DatabaseClient } from "./servers.ts";
import type { DatabaseTransaction } from "./schema.ts";

const CHANNEL = "attestore_agents";
/** A connection that nobody closed and that carries nothing is found within this time. */
const CHECK_EVERY_MS = 30_000;
const LONGEST_PAUSE_MS = 15_000;

/**
 * Tells every replica, once the transaction commits, to look again for an agent's commands and
 * requests. Only for those that a person waits for, because commits that notify wait for one lock
 * of the whole database.
 */
export async function notifyAgent(tx: DatabaseTransaction, agentId: string): Promise<void> {
  await sql`select pg_notify(${CHANNEL}, ${agentId})`.execute(tx);
}

export interface AgentNoticesOptions {
  connection: ConnectionSettings;
  logger: Logger;
  onNotice: (agentId: string) => void;
  /** From now on notices come. Those of the time before may be lost. */
  onListening: () => void;
}

/**
 * Hears what `notifyAgent` says on any replica, over one connection that is opened again whenever
 * it breaks. It works as the role that it connects as, and reads no table.
 */
export class AgentNotices {
  readonly #options: AgentNoticesOptions;
  readonly #closing = new AbortController();
  #running: Promise<void> | null = null;

  constructor(options: AgentNoticesOptions) {
    this.#options = options;
  }

  /** Connects at the first call, and at no later one. */
  start(): void {
    if (this.#closing.signal.aborted) return;
    this.#running ??= this.#run(this.#closing.signal);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.#listen(signal, () => {
          failures = 0;
        });
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        if (failures === 1)
          this.#options.logger.warn(
            { reason: errorMessage(error) },
            "the connection that hears of new commands broke; until it is back, agents hear of them with their next call",
          );
      }
      const pause_ms = Math.min(LONGEST_PAUSE_MS, 250 * 2 ** Math.min(failures, 10));
      await delay(pause_ms * (0.5 + Math.random() / 2), undefined, { signal, ref: false }).catch(
        () => undefined,
      );
    }
  }

  /** Until the connection breaks, which it throws, or the signal fires. */
  async #listen(signal: AbortSignal, connected: () => void): Promise<void> {
    const { connection, onNotice, onListening } = this.#options;
    const client = new DatabaseClient({
      ...connection,
      application_name: "attestore-server notices",
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    const broken = new AbortController();
    client.on("error", (error) => broken.abort(error));
    client.on("end", () => broken.abort(new Error("the server ended it")));
    client.on("notification", ({ payload }) => onNotice(payload ?? ""));
    const either = AbortSignal.any([signal, broken.signal]);
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      connected();
      onListening();
      while (!either.aborted) {
        await delay(CHECK_EVERY_MS, undefined, { signal: either, ref: false }).catch(() => undefined);
        if (!either.aborted) await client.query("select 1");
      }
      if (!signal.aborted) broken.signal.throwIfAborted();
    } finally {
      await endClient(client);
    }
  }
}
