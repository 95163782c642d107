import {
  access,
  chmod,
  chown,
  constants,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  rmdir,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { UserError } from "../errors/user-error.ts";
import type { PostgresUser } from "./postgres-user.ts";

/** sockaddr_un holds 108 bytes including the closing NUL. */
const SOCKET_PATH_LIMIT = 107;
/**
 * File in our `postgres/` that names the runtime directory, so that one left by a killed service is
 * found again.
 */
const NOTE = "runtime";
const NAME = /^attestore-[A-Za-z0-9]{6}$/;
/**
 * Empty directories over which the server's own mount namespace mounts what its user can't reach
 * otherwise.
 */
const MOUNT_POINTS = ["postgres", "binaries"];

export function fitsSocket(directory: string): boolean {
  return Buffer.byteLength(join(directory, ".s.PGSQL.5432")) <= SOCKET_PATH_LIMIT;
}

/**
 * A private directory with a short name, for a socket whose own place has a path that is too long
 * or unreachable. Nobody can guess its random name and take it beforehand; others learn it from
 * postmaster.pid.
 */
export async function makeRuntimeDirectory(home: string, user: PostgresUser | null): Promise<string> {
  const bases = user === null ? [tmpdir(), "/tmp"] : ["/run", tmpdir(), "/tmp"];
  for (const base of bases) {
    if (!fitsSocket(join(base, "attestore-XXXXXX", "socket")) || !(await isUsable(base))) continue;
    const directory = await mkdtemp(join(base, "attestore-"));
    await writeFile(join(home, NOTE), directory);
    await chmod(directory, user === null ? 0o700 : 0o711);
    await mkdir(join(directory, "socket"), { mode: 0o700 });
    if (user !== null) await chown(join(directory, "socket"), user.uid, user.gid);
    for (const name of MOUNT_POINTS) await mkdir(join(directory, name), { mode: 0o711 });
    return directory;
  }
  throw new UserError(
    "data_directory",
    `No directory for PostgreSQL's socket: none of ${bases.join(", ")} is writable.`,
  );
}

async function isUsable(path: string): Promise<boolean> {
  return access(path, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

/**
 * Removes the runtime directory of an earlier run. Only with rmdir: if it contains anything else,
 * it stays.
 */
export async function removeRuntimeDirectory(home: string): Promise<void> {
  const directory = await readFile(join(home, NOTE), "utf8").catch(() => null);
  if (directory === null) return;
  if (NAME.test(basename(directory))) {
    await rm(join(directory, "socket", ".s.PGSQL.5432"), { force: true });
    await rm(join(directory, "socket", ".s.PGSQL.5432.lock"), { force: true });
    for (const name of ["socket", ...MOUNT_POINTS]) await rmdir(join(directory, name)).catch(() => undefined);
    await rmdir(directory).catch(() => undefined);
  }
  await rm(join(home, NOTE), { force: true });
}
