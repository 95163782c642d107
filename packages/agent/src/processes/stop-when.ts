import type { Child } from "./child.ts";

/**
 * Stops a child when its time is up. Not as the signal that it is started with: whoever starts a
 * program with that could not tell the end of its time from an interrupted run.
 * @returns what must be called once it ended
 */
export function stopWhen(time: AbortSignal, child: Pick<Child, "stop">): () => void {
  const stop = (): void => void child.stop();
  time.addEventListener("abort", stop, { once: true });
  if (time.aborted) stop();
  return () => time.removeEventListener("abort", stop);
}
