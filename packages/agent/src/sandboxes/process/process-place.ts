import { randomBytes } from "node:crypto";
import { type Child, startChild } from "../../processes/child.ts";
import { findProgram, isExecutable } from "../../processes/find-program.ts";
import { unprivilegedUser } from "../../processes/unprivileged-user.ts";
import type { ReachedLimit } from "../bounds/confinement.ts";
import type { SandboxLimits } from "../bounds/sandbox-limits.ts";
import { hardLimit } from "../bounds/hard-limit.ts";
import { ownProgram } from "../../processes/own-program.ts";
import { measuredAtEnd } from "../bounds/measured-at-end.ts";
import { watchDisk } from "../bounds/watch-disk.ts";
import type { Place, PlaceProgram } from "../place.ts";
import { raiseOomScore } from "./oom-score.ts";
import { ProcessWatch, threadsOf } from "./process-watch.ts";
import { makeScratchDirectory, makeSocketDirectory } from "./scratch-directory.ts";

/**
 * Everyone who may see a process's environment can see this: it names a place, and is not a secret.
 */
const MARK = "ATTESTORE_PLACE";
/** Processor time, for processes that outlive us. */
const CPU_S = 12 * 3600;

/** The limits of a place's programs on this host. */
export interface PlaceBounds extends SandboxLimits {
  /** For all of them together. */
  readonly memory_bytes: number;
  /** They have been ended, or are about to be. */
  /** May be called more than once; the limit that was reached first counts. */
  readonly onLimit: (limit: ReachedLimit) => void;
}

/**
 * Two throw-away directories on this host, and programs that run as an unprivileged user. Whatever
 * kill -9 leaves of them, the next run removes.
 * @throws RunError
 */
export async function openProcessPlace(
  scratchDir: string,
  bounds: PlaceBounds | null = null,
): Promise<Place> {
  const user = await unprivilegedUser();
  const directory = await makeScratchDirectory(scratchDir, user);
  const sockets = await makeSocketDirectory(user).catch(async (error: unknown) => {
    await directory.remove();
    throw error;
  });
  const running = new Set<Child>();
  const mark = randomBytes(16).toString("hex");
  const watch = new ProcessWatch(`${MARK}=${mark}`);
  const stopWatching = new AbortController();
  if (bounds !== null) {
    const { signal } = stopWatching;
    const end = (limit: ReachedLimit): Promise<void> => {
      bounds.onLimit(limit);
      return watch.killAll();
    };
    void watch.exceeds(bounds.memory_bytes, signal).then((isTooMuch) => (isTooMuch ? end("memory") : null));
    void watchDisk(directory.path, bounds.disk_bytes, signal).then((limit) =>
      limit === null ? null : end(limit),
    );
  }

  async function start({ diesWithUs = false, ...program }: PlaceProgram): Promise<Child> {
    // Without this, the next run still finds the leftovers.
    const setpriv = diesWithUs ? await findProgram("setpriv") : null;
    const { command, args } = await limited(program, bounds, user?.uid ?? null);
    const child = await startChild({
      cwd: directory.path,
      ...program,
      command,
      args,
      ...(setpriv === null
        ? {}
        : {
            command: setpriv,
            args: ["--pdeathsig", (program.stopSignal ?? "SIGTERM").slice(3), "--", command, ...args],
          }),
      env: { ...program.env, [MARK]: mark },
      ...(user === null ? {} : { user: { uid: user.uid, gid: user.gid } }),
    });
    watch.add(child.pid);
    raiseOomScore(child.pid);
    running.add(child);
    void child.exited.then(() => running.delete(child));
    return child;
  }

  const place: Place = {
    kind: "process",
    home: directory.path,
    sockets: sockets.path,
    self: ownProgram(),
    shared: directory.path,
    start,
    close: async () => {
      stopWatching.abort();
      watch.note();
      await Promise.all([...running].map((child) => child.stop()));
      await watch.killAll();
      await sockets.remove();
      await directory.remove();
    },
  };
  return bounds === null ? place : measuredAtEnd(place, directory.path, bounds, bounds.onLimit);
}

/**
 * The same with prlimit(1), if it is installed. Processes that it starts cannot raise any of these
 * limits.
 */
async function limited(
  { command, args }: PlaceProgram,
  bounds: PlaceBounds | null,
  uid: number | null,
): Promise<Pick<PlaceProgram, "command" | "args">> {
  const [prlimit, path] = [
    await findProgram("prlimit"),
    command.includes("/") ? command : await findProgram(command),
  ];
  // If it is missing, that shows by itself.
  if (bounds === null || prlimit === null || path === null || !(await isExecutable(path)))
    return { command, args };
  // The kernel counts all of a user's processes: run as ourselves, they are added to those that we
  // have.
  const processes = bounds.processes + threadsOf(uid ?? process.getuid?.() ?? -1);
  const limits = [
    "--core=0",
    `--cpu=${Math.min(CPU_S, hardLimit("Max cpu time"))}`,
    `--nproc=${Math.min(processes, hardLimit("Max processes"))}`,
    `--fsize=${Math.min(bounds.file_bytes, hardLimit("Max file size"))}`,
  ];
  return { command: prlimit, args: [...limits, "--", path, ...args] };
}
