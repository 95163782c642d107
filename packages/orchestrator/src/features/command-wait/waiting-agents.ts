import type { Clock } from "../../platform/clock.ts";
import { AgentNotices } from "../../platform/database/agent-notices.ts";
import type { ConnectionSettings } from "../../platform/database/connection-settings.ts";
import type { Database } from "../../platform/database/schema.ts";
import { unavailable } from "../../platform/errors/api-error.ts";
import { agentRevoked } from "../../platform/http/credentials/lock-active-agent.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import { redeliveryDue } from "../commands/deliver-commands.ts";
import { agentsWithQueued, readPending } from "./store.ts";

/** Each holds a connection and some kilobytes. */
const MAX_OF_PROCESS = 20_000;

/**
 * Agents whose request is held until there is a command for them. Each has one request, and none
 * holds a database connection.
 */
export class WaitingAgents {
  readonly #waiting = new Map<string, Waiter>();
  readonly #notices: AgentNotices;
  readonly #deps: WaitingAgentsDeps;

  constructor(deps: WaitingAgentsDeps) {
    this.#deps = deps;
    this.#notices = new AgentNotices({
      connection: deps.connection,
      logger: deps.logger,
      onNotice: (agentId) => this.#waiting.get(agentId)?.ring(),
      onListening: () => void this.#ringMissed(),
    });
  }

  get count(): number {
    return this.#waiting.size;
  }

  /**
   * True as soon as the agent's next heartbeat gets a command; false after `wait_s`, when `signal`
   * fires, or when the agent waits a second time. Throws `agent_revoked`, and `unavailable` if too
   * many wait.
   */
  async wait(wait: { agentId: string; wait_s: number; signal: AbortSignal }): Promise<boolean> {
    const { agentId, wait_s, signal } = wait;
    this.#waiting.get(agentId)?.leave();
    if (this.#waiting.size >= MAX_OF_PROCESS)
      throw unavailable("More agents wait for commands than the service can hold.");
    const waiter = new Waiter();
    const leave = (): void => waiter.leave();
    // Before the first look: what comes after the look rings, and what came before is seen.
    this.#waiting.set(agentId, waiter);
    this.#notices.start();
    const timer = setTimeout(leave, wait_s * 1000);
    signal.addEventListener("abort", leave, { once: true });
    try {
      for (;;) {
        if (await this.#hasCommands(agentId)) return true;
        if (signal.aborted || wait_s === 0 || !(await waiter.rung())) return false;
      }
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
      if (this.#waiting.get(agentId) === waiter) this.#waiting.delete(agentId);
    }
  }

  close(): Promise<void> {
    return this.#notices.close();
  }

  async #hasCommands(agentId: string): Promise<boolean> {
    const { db, clock, heartbeatInterval_s } = this.#deps;
    const now = clock();
    const notSince = redeliveryDue(now, heartbeatInterval_s);
    const pending = await readPending(db, agentId, { notSince, now });
    if (pending === null) throw agentRevoked();
    return pending;
  }

  /** Those whose notice came while nobody listened. */
  async #ringMissed(): Promise<void> {
    try {
      const agents = await agentsWithQueued(this.#deps.db, [...this.#waiting.keys()]);
      for (const agentId of agents) this.#waiting.get(agentId)?.ring();
    } catch {
      // Each agent looks again by itself when its wait ends.
    }
  }
}

export interface WaitingAgentsDeps {
  db: Database;
  /** For the one connection that is notified of new commands. */
  connection: ConnectionSettings;
  logger: Logger;
  clock: Clock;
  heartbeatInterval_s: number;
}

/** One held request. A ring that comes while it looks is remembered. */
class Waiter {
  #over = false;
  #missed = false;
  #wake: (() => void) | null = null;

  ring(): void {
    this.#missed = true;
    this.#wake?.();
  }

  leave(): void {
    this.#over = true;
    this.#wake?.();
  }

  /** After a ring; false if the wait is over. */
  async rung(): Promise<boolean> {
    if (!this.#missed && !this.#over)
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    this.#wake = null;
    this.#missed = false;
    return !this.#over;
  }
}
