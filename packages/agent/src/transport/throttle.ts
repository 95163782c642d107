import { setTimeout as pause } from "node:timers/promises";

/**
 * Passes chunks on at no more than this many bytes a second on average; after a pause of the
 * network it catches up by at most a second's worth. Null: no limit.
 */
export async function* throttled(
  chunks: AsyncIterable<Buffer>,
  maxBytesPerSecond: number | null,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  if (maxBytesPerSecond === null) {
    yield* chunks;
    return;
  }
  // The earliest time at which the bytes so far may have been sent.
  let due = performance.now();
  for await (const chunk of chunks) {
    const step = Math.max(1, Math.min(chunk.length, Math.floor(maxBytesPerSecond / 4)));
    for (let at = 0; at < chunk.length; at += step) {
      const piece = chunk.subarray(at, at + step);
      // A timer counts whole milliseconds, and may fire a fraction of one early.
      for (let wait_ms = due - performance.now(); wait_ms > 0; wait_ms = due - performance.now())
        await pause(Math.ceil(wait_ms), undefined, { signal });
      yield piece;
      due = Math.max(due, performance.now() - 1000) + (piece.length / maxBytesPerSecond) * 1000;
    }
  }
}
