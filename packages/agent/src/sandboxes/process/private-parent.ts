import { randomBytes } from "node:crypto";
import { type FileHandle, lstat, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "@attestore/host/errno";
import type { User } from "../../processes/unprivileged-user.ts";
import { RunError } from "../../errors/run-error.ts";
import { openDirectory, openToldDirectory } from "../../trees/open.ts";

/** `attestore-<uid>-<gid>`, with eight more digits if somebody else had created that name first. */
const NAME = /^attestore-([0-9]+)-([0-9]+)(?:-x[0-9a-f]{8})?$/;

/**
 * A directory of ours in a place where everybody may create names, such as /tmp: only we can create
 * anything in it, so its content is ours. Only `user` can walk through it.
 * @throws RunError `sandbox_failed`
 */
export async function makePrivateParent(place: string, user: User | null): Promise<string> {
  await requireSticky(place);
  const gid = user?.gid ?? process.getgid?.() ?? 0;
  const mode = user === null ? 0o700 : 0o710;
  for (const path of await findPrivateParents(place)) {
    const stats = await lstat(path).catch(() => null);
    if (stats !== null && stats.gid === gid && (stats.mode & 0o7777) === mode) return path;
  }
  const name = `attestore-${ownUid()}-${gid}`;
  // If somebody else took a name, another one is as good.
  for (const path of [join(place, name), join(place, `${name}-x${randomBytes(4).toString("hex")}`)]) {
    try {
      await mkdir(path, { mode: 0o700 });
    } catch (error) {
      if (errorCode(error) === "EEXIST") continue;
      throw error;
    }
    const directory = await openDirectory(path);
    try {
      if (user !== null) await directory.chown(ownUid(), gid);
      await directory.chmod(mode);
    } finally {
      await directory.close();
    }
    return path;
  }
  throw new RunError("sandbox_failed", `no private directory could be created in ${place}`);
}

/** Those that are ours: not a link, and not a directory that somebody else may write to. */
export async function findPrivateParents(place: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of (await readdir(place).catch((): string[] => [])).sort()) {
    if (Number(NAME.exec(name)?.[1] ?? -1) !== ownUid()) continue;
    const path = join(place, name);
    const stats = await lstat(path).catch(() => null);
    if (stats !== null && stats.isDirectory() && stats.uid === ownUid() && (stats.mode & 0o067) === 0)
      found.push(path);
  }
  return found;
}

/**
 * Holds a directory that we were told to work in. A name in it can only be trusted if nobody else
 * could have created it.
 * @throws RunError `sandbox_failed`; the system's own error if there is none
 */
export async function openPrivate(path: string): Promise<FileHandle> {
  const directory = await openToldDirectory(path);
  const { uid, mode } = await directory.stat();
  if (uid === ownUid() && (mode & 0o022) === 0) return directory;
  await directory.close();
  const whose = uid === ownUid() ? "is writable by others" : `belongs to another user (uid ${uid})`;
  throw new RunError(
    "sandbox_failed",
    `the scratch directory ${path} ${whose}: only this user may own it and write to it`,
  );
}

export function ownUid(): number {
  return process.geteuid?.() ?? -1;
}

/** If others may write there, only the sticky bit keeps them from moving our names away. */
async function requireSticky(place: string): Promise<void> {
  const { mode, uid } = await lstat(place);
  const isOthers = uid !== 0 && uid !== ownUid();
  if (!isOthers && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0)) return;
  throw new RunError(
    "sandbox_failed",
    `${place} is not safe to work in: others can rename its content (it must have the sticky bit and belong to root)`,
  );
}
