import type { Pool } from "pg";

/**
 * After a restore nobody here knows which heads were signed after the backup, and agents do. Logs
 * that nobody may append to yet are held until the service has been reachable for so long; a head
 * that an agent brings meanwhile makes its log read-only.
 */
export async function holdLogs(pool: Pool): Promise<void> {
  await pool.query("update logs set held_until = 'infinity'");
}

/** Called once the service accepts requests: every agent had time for a heartbeat then. */
export async function endHold(pool: Pool, after_s: number): Promise<void> {
  await pool.query(
    "update logs set held_until = clock_timestamp() + make_interval(secs => $1) where held_until = 'infinity'",
    [after_s],
  );
}
