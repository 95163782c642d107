/**
 * Returns the `code` of an error from the operating system, Node or PostgreSQL ("ENOENT", "57P01"),
 * or null.
 */
export function errorCode(error: unknown): string | null {
  if (typeof error !== "object" || error === null || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}

const DISK_FULL: ReadonlySet<string | null> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** Whether a file system, a quota or a limit on files reports that there is no more room. */
export function isDiskFull(error: unknown): boolean {
  return DISK_FULL.has(errorCode(error));
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `fetch` itself only says "fetch failed": why is in the error's cause. */
export function fetchMessage(error: unknown): string {
  return errorMessage(error instanceof Error && error.cause !== undefined ? error.cause : error);
}
