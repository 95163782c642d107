import { errorCode } from "@attestore/host/errno";

/** What each of the system's codes for missing space says about a file or directory. */
const TEXTS: Readonly<Record<string, (what: string) => string>> = {
  ENOSPC: (what) => `no space left on the disk to write ${what}: make room there, then run the command again`,
  EDQUOT: (what) => `the disk quota has no space left to write ${what}: make room, or raise the quota`,
  EFBIG: (what) => `${what} would be larger than a limit on files allows: raise it (ulimit -f)`,
};

/**
 * Which file or directory could not be written for lack of space, and what to do next; null for any
 * other error.
 */
export function noSpace(error: unknown): string | null {
  const text = TEXTS[errorCode(error) ?? ""];
  if (text === undefined) return null;
  const path = error instanceof Error && "path" in error ? error.path : null;
  return text(typeof path === "string" ? path : "a file");
}
