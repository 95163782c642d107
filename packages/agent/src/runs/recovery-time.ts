import type { RestoreTestResult } from "./restore-and-check.ts";

/** How long it took to have the data back, and how long the source may take (its RTO). */
export interface RecoveryTime {
  /** Download, decryption and restore; the checks come after the data are back. */
  readonly took_ms: number;
  /** Null if the source names none. */
  readonly rto_s: number | null;
  readonly isMet: boolean | null;
}

/**
 * A restore that took too long has still restored: it is no failed test. The receipt has the
 * phases, by which everybody can compare for themselves.
 */
export function recoveryTime(
  { download_ms, decrypt_ms, restore_ms }: RestoreTestResult["phases"],
  rto_s: number | undefined,
): RecoveryTime {
  const took_ms = download_ms + decrypt_ms + restore_ms;
  return { took_ms, rto_s: rto_s ?? null, isMet: rto_s === undefined ? null : took_ms <= rto_s * 1000 };
}
