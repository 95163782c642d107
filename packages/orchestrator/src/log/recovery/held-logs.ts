import { setTimeout as delay } from "node:timers/promises";
import { errorMessage } from "@attestore/host/errno";
import type { Pool } from "pg";
import type { Logger } from "../../platform/logging/logger.ts";

const RETRY_MS = 30_000;

/**
 * After a restore nobody here knows which heads were signed after the backup, and agents do. Logs
 * that nobody may append to yet are held until the service has been reachable for so long; a head
 * that an agent brings meanwhile makes its log read-only.
 */
export async function holdLogs(pool: Pool): Promise<void> {
  await pool.query("update logs set held_until = 'infinity'");
}

export interface EndHoldOptions {
  pool: Pool;
  /** In which every agent has time for a heartbeat. */
  after_s: number;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * Called once the service accepts requests. The hold ends when this process has accepted them for
 * so long: time in which the service was down counts for nothing, because no agent could say
 * anything. Never rejects.
 */
export async function endHold({ pool, after_s, logger, signal }: EndHoldOptions): Promise<void> {
  for (let wait_ms = after_s * 1000; ; wait_ms = RETRY_MS) {
    await delay(wait_ms, undefined, { ref: false, signal }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      await pool.query("update logs set held_until = null where held_until = 'infinity'");
      return;
    } catch (error) {
      logger.warn({ reason: errorMessage(error) }, "the hold of restored logs could not be ended yet");
    }
  }
}
