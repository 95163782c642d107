import { type Stats, statSync } from "node:fs";
import { delimiter, isAbsolute } from "node:path";

const USUAL = "/usr/local/bin:/usr/bin:/bin";

/**
 * PATH without what lets somebody else choose the program: relative parts (an empty one is the
 * current directory), and directories that are neither this user's nor root's, or that everybody
 * may write to.
 */
export function searchPath(path: string | undefined = process.env["PATH"]): string {
  const trusted = (path ?? USUAL).split(delimiter).filter((part) => isAbsolute(part) && isTrusted(part));
  return trusted.length === 0 ? USUAL : trusted.join(delimiter);
}

/**
 * TMPDIR, if nobody else can move or replace what programs put there: then they use the system's.
 */
export function temporaryDirectory(path: string | undefined = process.env["TMPDIR"]): string | null {
  return path !== undefined && isAbsolute(path) && (isTrusted(path) || isSticky(path)) ? path : null;
}

function isSticky(directory: string): boolean {
  const { uid, mode } = statsOf(directory) ?? { uid: -1, mode: 0 };
  return (uid === 0 || uid === process.geteuid?.()) && (mode & 0o1000) !== 0;
}

function isTrusted(directory: string): boolean {
  const stats = statsOf(directory);
  if (stats === null || !stats.isDirectory()) return false;
  const isOurs = stats.uid === 0 || stats.uid === process.geteuid?.();
  return isOurs && (stats.mode & 0o002) === 0;
}

/**
 * Null where it is not there, or where this user may not look: nothing could be run from it either.
 */
function statsOf(directory: string): Stats | null {
  try {
    return statSync(directory);
  } catch {
    return null;
  }
}
