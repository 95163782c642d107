import { chmod, chown, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UserError } from "../errors/user-error.ts";
import { linkLibraries } from "./binaries.ts";
import { canAccess } from "./launch.ts";
import type { LaunchContext } from "./launch.ts";
import type { PostgresUser } from "./postgres-user.ts";
import { fitsSocket, makeRuntimeDirectory, removeRuntimeDirectory } from "./runtime-directory.ts";

/**
 * Where the server's parts are, as paths that the server sees, and how to start it so that it sees
 * them.
 */
export interface ClusterLocation extends LaunchContext {
  /** Our `postgres/` with the cluster. */
  home: string;
  /** The directory of `bin/`. */
  binaries: string;
  environment: NodeJS.ProcessEnv;
  /** The same path for the server and for us. */
  socketDirectory: string;
  dispose(): Promise<void>;
}

/**
 * Decides how the server reaches its files. Normally they stay where they are. If root runs the
 * service in a home directory that nobody else may enter (a checkout under /root), the server gets
 * its own mount namespace, in which they are at a path that its user can reach; nobody's
 * permissions are changed.
 */
export async function place(
  home: string,
  binaries: string,
  user: PostgresUser | null,
): Promise<ClusterLocation> {
  await removeRuntimeDirectory(home);
  const inPlace = user === null || (await isReachable(user, home, binaries));
  const ownSocketDirectory = join(home, "run");
  if (inPlace && fitsSocket(ownSocketDirectory)) {
    await mkdir(ownSocketDirectory, { recursive: true, mode: 0o700 });
    await chmod(ownSocketDirectory, 0o700);
    if (user !== null) await chown(ownSocketDirectory, user.uid, user.gid);
    const environment = await environmentFor(home, binaries, home, binaries);
    return {
      user,
      mounts: [],
      home,
      binaries,
      environment,
      socketDirectory: ownSocketDirectory,
      dispose: nothing,
    };
  }

  const runtime = await makeRuntimeDirectory(home, user);
  const socketDirectory = join(runtime, "socket");
  const dispose = (): Promise<void> => removeRuntimeDirectory(home);
  try {
    if (inPlace) {
      const environment = await environmentFor(home, binaries, home, binaries);
      return { user, mounts: [], home, binaries, environment, socketDirectory, dispose };
    }
    const seenHome = join(runtime, "postgres");
    const seenBinaries = join(runtime, "binaries");
    const mounts = [
      { from: home, to: seenHome },
      { from: binaries, to: seenBinaries },
    ];
    if (!(await canAccess({ user, mounts }, "-x", join(seenBinaries, "bin", "postgres")))) {
      throw await unreachable(user, home, binaries);
    }
    const environment = await environmentFor(home, binaries, seenHome, seenBinaries);
    return { user, mounts, home: seenHome, binaries: seenBinaries, environment, socketDirectory, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

const nothing = (): Promise<void> => Promise.resolve();

/**
 * Nothing of our own environment: the caller's PG* variables and locales must not affect the
 * server.
 */
async function environmentFor(
  home: string,
  binaries: string,
  seenHome: string,
  seenBinaries: string,
): Promise<NodeJS.ProcessEnv> {
  const linked = await linkLibraries(binaries, seenBinaries, join(home, "library-links"));
  const base = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    LC_ALL: "C",
    TZ: "UTC",
  };
  // The libraries' own directory too: a library that is found through a link looks for others
  // beside the link.
  const libraryPath = `${join(seenHome, "library-links")}:${join(seenBinaries, "lib")}`;
  return linked ? { ...base, LD_LIBRARY_PATH: libraryPath } : base;
}

async function isReachable(user: PostgresUser, home: string, binaries: string): Promise<boolean> {
  return (
    (await firstBarred(user, home)) === null &&
    (await firstBarred(user, join(binaries, "bin", "postgres"))) === null
  );
}

/** The outermost directory on the way that the user may not enter, or null. */
async function firstBarred(user: PostgresUser, path: string): Promise<string | null> {
  if (await canAccess({ user, mounts: [] }, "-x", path)) return null;
  const above = dirname(path);
  return above === path ? path : ((await firstBarred(user, above)) ?? path);
}

async function unreachable(user: PostgresUser, home: string, binaries: string): Promise<UserError> {
  const barred =
    (await firstBarred(user, home)) ?? (await firstBarred(user, join(binaries, "bin", "postgres")));
  return new UserError(
    "data_directory",
    `PostgreSQL runs as the user ${user.name}, who cannot enter ${barred ?? home}, and this system does not allow a private mount. ` +
      "Put the data directory (ATTESTORE_DATA) and the program where every user has access, such as /var/lib and /opt, or run the service as an unprivileged user.",
  );
}
