import { RunError } from "../errors/run-error.ts";
import type { SourceLimits } from "../config/source-limits.ts";

/**
 * A signal that fires when the caller's signal does or when the time is up, and which of the two it
 * was.
 */
export interface TimeLimit {
  readonly signal: AbortSignal;
  isUp(): boolean;
}

export function timeLimit({ time_s }: SourceLimits, signal: AbortSignal): TimeLimit {
  const limit = AbortSignal.timeout(time_s * 1000);
  return { signal: AbortSignal.any([signal, limit]), isUp: () => limit.aborted && !signal.aborted };
}

/**
 * Passes a dump on and counts its bytes. As soon as it is longer than `most`, the error from
 * `tooLong` is thrown.
 */
export async function* atMost(
  content: AsyncIterable<Buffer>,
  most: number,
  tooLong: () => Error,
): AsyncGenerator<Buffer, number, undefined> {
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
    if (bytes > most) throw tooLong();
    yield piece;
  }
  return bytes;
}

/** The error for a run that one of its source's limits ended. */
export function beyondLimit(what: string, setting: string): RunError {
  return new RunError(
    "limit_exceeded",
    `${what}: if that is expected, raise the source's ${setting} in config.yaml`,
  );
}
