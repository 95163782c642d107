/** What `doctor` checked, and what to do about it. */
export interface Finding {
  /** E.g. `database`; several findings may be about one thing. */
  readonly check: string;
  /**
   * `warning`: it works, and somebody should look. `skipped`: it could not be checked, or does not
   * exist.
   */
  readonly level: "ok" | "warning" | "failed" | "skipped";
  readonly message: string;
  /** The next thing to do, if there is one. */
  readonly next?: string;
}

export const ok = (check: string, message: string): Finding => ({ check, level: "ok", message });
export const skipped = (check: string, message: string): Finding => ({ check, level: "skipped", message });
export const warning = (check: string, message: string, next: string): Finding => ({
  check,
  level: "warning",
  message,
  next,
});
export const failed = (check: string, message: string, next: string): Finding => ({
  check,
  level: "failed",
  message,
  next,
});
