import { type Child, startChild } from "../../processes/child.ts";
import { findProgram } from "../../processes/find-program.ts";
import { unprivilegedUser } from "../../processes/unprivileged-user.ts";
import { ownProgram } from "../isolation/own-program.ts";
import type { Place, PlaceProgram } from "../place.ts";
import { makeScratchDirectory, makeSocketDirectory } from "./scratch-directory.ts";

/**
 * Two throw-away directories of this host, and programs that run as an unprivileged user. What kill -9 leaves of them
 * goes with the next run.
 * @throws CouldNotRun
 */
export async function openProcessPlace(scratchDir: string): Promise<Place> {
  const user = await unprivilegedUser();
  const directory = await makeScratchDirectory(scratchDir, user);
  const sockets = await makeSocketDirectory(user).catch(async (error: unknown) => {
    await directory.remove();
    throw error;
  });
  const running = new Set<Child>();

  async function start({ diesWithUs = false, ...program }: PlaceProgram): Promise<Child> {
    // Without it there is still the next run, which finds what is left.
    const setpriv = diesWithUs ? await findProgram("setpriv") : null;
    const { command, args } = program;
    const child = await startChild({
      cwd: directory.path,
      ...program,
      ...(setpriv === null
        ? {}
        : {
            command: setpriv,
            args: ["--pdeathsig", (program.stopSignal ?? "SIGTERM").slice(3), "--", command, ...args],
          }),
      ...(user === null ? {} : { user: { uid: user.uid, gid: user.gid } }),
    });
    running.add(child);
    void child.exited.then(() => running.delete(child));
    return child;
  }

  return {
    kind: "process",
    home: directory.path,
    sockets: sockets.path,
    self: ownProgram(),
    shared: directory.path,
    start,
    close: async () => {
      await Promise.all([...running].map((child) => child.stop()));
      await sockets.remove();
      await directory.remove();
    },
  };
}
