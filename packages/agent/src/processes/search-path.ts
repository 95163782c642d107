import { type Stats, statSync } from "node:fs";
import { delimiter, isAbsolute } from "node:path";

const USUAL = "/usr/local/bin:/usr/bin:/bin";

/**
 * PATH without entries through which somebody else could choose the program: relative ones (an
 * empty one is the current directory), directories that belong neither to this user nor to root,
 * and directories that everybody may write to.
 */
export function searchPath(path: string | undefined = process.env["PATH"]): string {
  const trusted = (path ?? USUAL).split(delimiter).filter((part) => isAbsolute(part) && isTrusted(part));
  return trusted.length === 0 ? USUAL : trusted.join(delimiter);
}

/**
 * TMPDIR, if nobody else can move or replace what programs put there; otherwise programs use the
 * system's.
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
 * Null if it does not exist, or if this user may not look into it: then nothing could be run from
 * it either.
 */
function statsOf(directory: string): Stats | null {
  try {
    return statSync(directory);
  } catch {
    return null;
  }
}
