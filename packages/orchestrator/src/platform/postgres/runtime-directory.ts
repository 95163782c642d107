import { access, chmod, chown, constants, mkdir, mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { UserError } from "../errors/user-error.ts";
import type { PostgresUser } from "./postgres-user.ts";

/** sockaddr_un holds 108 bytes with the closing NUL. */
const SOCKET_PATH_LIMIT = 107;
const NAME = /^attestore-[A-Za-z0-9]{6}$/;
/** Empty directories, over which the server's own mount namespace puts what its user cannot reach otherwise. */
const MOUNT_POINTS = ["postgres", "binaries"];

export function fitsSocket(directory: string): boolean {
  return Buffer.byteLength(join(directory, ".s.PGSQL.5432")) <= SOCKET_PATH_LIMIT;
}

/**
 * A private directory with a short name, for a socket whose own place has a too long or an unreachable path. Its random name
 * cannot be taken by somebody else beforehand; others learn it from postmaster.pid.
 */
export async function makeRuntimeDirectory(user: PostgresUser | null): Promise<string> {
  const bases = user === null ? [tmpdir(), "/tmp"] : ["/run", tmpdir(), "/tmp"];
  for (const base of bases) {
    if (!fitsSocket(join(base, "attestore-XXXXXX", "socket")) || !(await isUsable(base))) continue;
    const directory = await mkdtemp(join(base, "attestore-"));
    await chmod(directory, user === null ? 0o700 : 0o711);
    await mkdir(join(directory, "socket"), { mode: 0o700 });
    if (user !== null) await chown(join(directory, "socket"), user.uid, user.gid);
    for (const name of MOUNT_POINTS) await mkdir(join(directory, name), { mode: 0o711 });
    return directory;
  }
  throw new UserError("data_directory", `No directory for PostgreSQL's socket: none of ${bases.join(", ")} can be written to.`);
}

async function isUsable(path: string): Promise<boolean> {
  return access(path, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Whether a socket directory lies in a directory that makeRuntimeDirectory made. */
export function isRuntimeDirectory(socketDirectory: string): boolean {
  return basename(socketDirectory) === "socket" && NAME.test(basename(dirname(socketDirectory)));
}

/** rmdir only: if anything is in it, it stays. */
export async function removeRuntimeDirectory(socketDirectory: string): Promise<void> {
  const root = dirname(socketDirectory);
  for (const name of ["socket", ...MOUNT_POINTS]) await rmdir(join(root, name)).catch(() => undefined);
  await rmdir(root).catch(() => undefined);
}
