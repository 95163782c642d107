import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

/** What a program of ours is started with so that it ends with this one, however this one ends. */
export const END_WITH_US = ["--import", fileURLToPath(new URL("./end-with-parent.ts", import.meta.url))];

/** Programs that this one started and that have not ended, and how each is asked to. */
const running = new Map<ChildProcess, NodeJS.Signals>();
let stopped: NodeJS.Signals | null = null;

/**
 * This program was told to stop, by a signal or because npm is gone; nothing further is started.
 */
export class Stopped extends Error {
  override readonly name = "Stopped";
}

/** Throws `Stopped` once this program was told to stop. */
export function goOn(): void {
  if (stopped !== null) throw new Stopped(`by ${stopped}`);
}

/** Starts a program that is ended, by `end`, when this one is told to stop. */
export function startChild(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
  end: NodeJS.Signals = "SIGTERM",
): ChildProcess {
  goOn();
  const child = spawn(command, args, options);
  running.set(child, end);
  child.once("close", () => running.delete(child));
  child.once("error", () => running.delete(child));
  return child;
}

/** Asks all children to end and waits until they have. */
export async function endChildren(): Promise<void> {
  await Promise.all(
    [...running].map(async ([child, signal]) => {
      const ended = once(child, "close");
      if (child.kill(signal)) await ended;
    }),
  );
}

/**
 * On SIGTERM, SIGINT and SIGHUP ends the children. Whoever waits for one sees it end, and whoever
 * starts another gets `Stopped`, so the program comes to its end by itself.
 *
 * @param then is called once the children have ended
 */
export function endChildrenOnSignals(then: () => void = () => undefined): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
    process.on(signal, () => {
      // A terminal's Ctrl-C comes to us, and once more through npm.
      if (stopped !== null) return;
      stopped = signal;
      process.exitCode = 128 + constants.signals[signal];
      void endChildren().then(then);
    });
}
