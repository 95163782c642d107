import type { RestoreTestResult } from "./restore-and-check.ts";

/** How long it took until the data was back, and how long it may take (the source's RTO). */
export interface RecoveryTime {
  /**
   * Download, decryption and restore. The checks run after the data is back, so they do not count.
   */
  readonly took_ms: number;
  /** Null if the source has no RTO. */
  readonly rto_s: number | null;
  readonly isMet: boolean | null;
}

/**
 * A slow restore has still restored, so it is not a failed test. The receipt has the phases, so
 * anyone can compare them with the RTO.
 */
export function recoveryTime(
  { download_ms, decrypt_ms, restore_ms }: RestoreTestResult["phases"],
  rto_s: number | undefined,
): RecoveryTime {
  const took_ms = download_ms + decrypt_ms + restore_ms;
  return { took_ms, rto_s: rto_s ?? null, isMet: rto_s === undefined ? null : took_ms <= rto_s * 1000 };
}
