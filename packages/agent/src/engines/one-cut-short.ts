import { RestoreRefused } from "./engine.ts";

/**
 * For a file of several dumps, one after another, of which one has no end. The database takes such
 * a file, because what follows is a dump again.
 */
export function oneCutShort(): RestoreRefused {
  return new RestoreRefused(
    "the file has several dumps, and one was cut short: the next begins before its last line. Look at what the program that makes them reports",
  );
}
