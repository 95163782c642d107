import { RestoreRefused } from "./engine.ts";

/**
 * For a file of several dumps, one after another, if one of them has no end. The database accepts
 * such a file, because another dump follows.
 */
export function oneCutShort(): RestoreRefused {
  return new RestoreRefused(
    "the file has several dumps, and one was cut short: the next begins before its last line. Look at what the program that makes them reports",
  );
}
