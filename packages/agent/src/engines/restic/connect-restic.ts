import { Duplex } from "node:stream";
import type { Child } from "../../processes/child.ts";
import { endedWith } from "../../processes/child.ts";
import { RunError } from "../../errors/run-error.ts";
import type { Place } from "../../sandboxes/place.ts";

export interface ResticConnection {
  /** Restic's HTTP/2 stream, outside the place. */
  readonly stream: Duplex;
  /**
   * Arguments with which restic finds the other end of the stream, if it is started in the place's
   * `home`.
   */
  readonly options: readonly string[];
  close(): Promise<void>;
}

/**
 * Opens a way out of a place for one restic, and for nothing else. Restic's rclone backend starts a
 * program and talks to its stdin and stdout. In the place that program is two `cat`. They are
 * connected by two named pipes to two more `cat`, which we started.
 * @throws RunError
 */
export async function connectRestic(
  place: Place,
  number: number,
  signal: AbortSignal,
): Promise<ResticConnection> {
  const [up, down] = [`restic-${number}.up`, `restic-${number}.down`];
  const made = await shell(place, 'umask 077; exec mkfifo "$0" "$1"', [up, down], signal);
  made.stdin.end();
  made.stdout.resume();
  const exit = await made.exited;
  if (exit.code !== 0)
    throw new RunError("sandbox_failed", `mkfifo failed in the sandbox (${endedWith(exit)})`);
  const child = await shell(place, 'cat "$0" & exec cat >"$1"', [up, down], signal);
  const stream = Duplex.from({ readable: child.stdout, writable: child.stdin });
  stream.on("error", () => undefined);
  return {
    stream,
    options: [
      "--repo=rclone:repository",
      "-o",
      `rclone.program=/bin/sh -c 'cat <${down} 2>/dev/null & exec cat >${up}'`,
      "-o",
      "rclone.args=",
    ],
    close: async () => {
      stream.destroy();
      await child.stop();
    },
  };
}

function shell(place: Place, script: string, args: readonly string[], signal: AbortSignal): Promise<Child> {
  return place.start({ command: "/bin/sh", args: ["-c", script, ...args], signal });
}
