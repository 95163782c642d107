import type { Logger } from "../../platform/logging/logger.ts";

const FACTOR = 10;
/** At most one line for each agent in this time. */
const QUIET_MS = 10 * 60_000;
const MAX_AGENTS = 10_000;

/**
 * Writes to the service's own log which agents send heartbeats ten times as often as they should
 * (specification, Limits).
 */
export class TooOften {
  readonly #interval_ms: number;
  /**
   * When an agent was last reported, and how often it came too early since then; oldest entry
   * first.
   */
  readonly #told = new Map<string, { at: number; since: number }>();

  constructor(interval_s: number) {
    this.#interval_ms = interval_s * 1000;
  }

  /** `before` is when the agent's last heartbeat came; null for its first. */
  notice(logger: Logger, agentId: string, before: Date | null, now: Date): void {
    if (before === null) return;
    const pause_ms = now.getTime() - before.getTime();
    if (pause_ms >= this.#interval_ms / FACTOR) return;
    const told = this.#told.get(agentId);
    if (told !== undefined && now.getTime() - told.at < QUIET_MS) {
      told.since += 1;
      return;
    }
    this.#told.delete(agentId);
    this.#told.set(agentId, { at: now.getTime(), since: 0 });
    const [oldest] = this.#told.keys();
    if (this.#told.size > MAX_AGENTS && oldest !== undefined) this.#told.delete(oldest);
    logger.warn(
      { agent_id: agentId, pause_ms, interval_s: this.#interval_ms / 1000, not_told: told?.since ?? 0 },
      "an agent sends heartbeats too often",
    );
  }
}
