import { Duplex } from "node:stream";
import type { Child } from "../../processes/child.ts";
import { endedWith } from "../../processes/child.ts";
import { RunError } from "../../errors/run-error.ts";
import type { Place } from "../../sandboxes/place.ts";

export interface ResticConnection {
  /** Restic's HTTP/2, out here. */
  readonly stream: Duplex;
  /** By which restic, started in the place's `home`, finds the other end of it. */
  readonly options: readonly string[];
  close(): Promise<void>;
}

/**
 * A way out of a place for one restic, and for nothing else. Restic's backend for rclone starts a program, and speaks with its stdin and
 * stdout: in there that is two `cat`, whose other ends are two pipes by name, and two more `cat`, which we started.
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
