import type { Child } from "./child.ts";

/**
 * Stops a child when its time is up. The child must not be started with this signal: its starter
 * could not tell the end of its time from an interrupted run.
 * @returns a function to call once it ended
 */
export function stopWhen(time: AbortSignal, child: Pick<Child, "stop">): () => void {
  const stop = (): void => void child.stop();
  time.addEventListener("abort", stop, { once: true });
  if (time.aborted) stop();
  return () => time.removeEventListener("abort", stop);
}
