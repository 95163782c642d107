import { join } from "node:path";
import { type Child, endedWith } from "../../processes/child.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import { openIsolatedPlace } from "../../sandboxes/isolation/open-isolated-place.ts";
import { type RelayedSocket, relaySocket } from "../../sandboxes/isolation/relay-socket.ts";
import type { Place, PlaceProgram } from "../../sandboxes/place.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { withClient } from "./client.ts";
import type { ServerProgram } from "./programs.ts";

export interface ScratchMongodb {
  /**
   * A URI through its socket, for this process and for the place's programs. It contains no secret.
   */
  readonly uri: string;
  readonly uriInside: string;
  /** Starts a program next to it. */
  start(program: PlaceProgram): Promise<Child>;
  hasDied(): boolean;
  close(): Promise<void>;
}

/**
 * Starts a server of its own. Only its socket leads to it, and only its own user can enter that
 * directory.
 * @throws RunError
 */
export async function startScratchMongodb(
  server: ServerProgram,
  context: RunContext,
): Promise<ScratchMongodb> {
  const { signal } = context;
  const place = await openIsolatedPlace(context);
  let relayed: RelayedSocket | null = null;
  const close = async (): Promise<void> => {
    await relayed?.close();
    await place.close();
  };
  try {
    const socket = join(place.sockets, "mongodb.sock");
    const child = await place.start({
      command: server.path,
      args: argumentsOf(server, place, socket),
      signal,
      diesWithUs: true,
      // Nothing in it is worth a clean shutdown.
      stopSignal: "SIGKILL",
    });
    let ended = false;
    void child.exited.then(() => (ended = true));
    child.stdin.end();
    child.stdout.resume();
    relayed = await relaySocket(place, socket, signal);
    const [uri, uriInside] = [uriOf(relayed.path), uriOf(socket)];
    await ready(child, uri, signal);
    return { uri, uriInside, start: (program) => place.start(program), hasDied: () => ended, close };
  } catch (error) {
    await close();
    stopIfAborted(signal);
    throw error;
  }
}

function uriOf(socket: string): string {
  return `mongodb://${encodeURIComponent(socket)}/?directConnection=true`;
}

function argumentsOf({ product }: ServerProgram, { home }: Place, socket: string): string[] {
  // Neither creates a directory for its data. The place belongs to it and is empty.
  return product === "FerretDB"
    ? [
        "--handler=sqlite",
        `--sqlite-url=file:${home}/`,
        `--state-dir=${home}`,
        "--listen-addr=",
        `--listen-unix=${socket}`,
        "--debug-addr=-",
        "--telemetry=disable",
        "--log-level=error",
      ]
    : [
        `--dbpath=${home}`,
        `--bind_ip=${socket}`,
        "--nounixsocket",
        "--filePermissions=0700",
        "--setParameter=diagnosticDataCollectionEnabled=false",
        // Documents of a TTL index or a time series may have expired since the backup.
        "--setParameter=ttlMonitorEnabled=false",
        // Code in the restored data or in a check's pipeline does not run: $where, $function,
        // mapReduce.
        "--noscripting",
      ];
}

/** Resolves when the server answers or has ended. */
async function ready(child: Child, uri: string, signal: AbortSignal): Promise<void> {
  const gaveUp = new AbortController();
  const either = AbortSignal.any([signal, gaveUp.signal]);
  const died = child.exited.then((exit): never => {
    gaveUp.abort();
    throw cannotStart(endedWith(exit), exit.stderr);
  });
  const answers = withClient(uri, { what: "the scratch server does not answer", signal: either }, () =>
    Promise.resolve(),
  );
  died.catch(() => undefined);
  answers.catch(() => undefined);
  await Promise.race([died, answers]);
}

function cannotStart(how: string, output: string): RunError {
  if (/No space left on device|Disk quota exceeded/i.test(output))
    return new RunError("disk_full", `the scratch directory's file system is full (${how})`);
  const line = output.split("\n").find((each) => /error|fatal|exception/i.test(each)) ?? "no message";
  return new RunError(
    "sandbox_failed",
    `the scratch server could not be started: ${how}: ${line.slice(0, 300)}`,
  );
}
