import { randomBytes } from "node:crypto";
import { chown, mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode, isDiskFull } from "@attestore/host/errno";
import { ownProcessTag } from "../../processes/process-tag.ts";
import type { User } from "../../processes/unprivileged-user.ts";
import { RunError } from "../../errors/run-error.ts";
import {
  markAsLeft,
  REACHABLE_PLACE,
  removeAbandonedDirectories,
  socketPlace,
  tryToRemove,
} from "./abandoned-directories.ts";
import { makePrivateParent, openPrivate } from "./private-parent.ts";

export interface ScratchDirectory {
  readonly path: string;
  /** Files that cannot be removed stay under a name that the next run knows and reports. */
  remove(): Promise<void>;
}

/**
 * A new directory with mode 0700 in `parent`, for plaintext that is thrown away. If it is for
 * another user who can't reach `parent`, it is made in a directory of ours in /var/tmp instead.
 * First removes directories of processes that are gone, wherever they are: this cleans up after
 * kill -9.
 * @throws RunError
 */
export async function makeScratchDirectory(parent: string, user: User | null): Promise<ScratchDirectory> {
  await removeAbandonedDirectories(parent);
  return make(parent, "attestore-", user, async () => {
    await mkdir(parent, { recursive: true, mode: 0o700 });
    return user === null || (await isReachable(parent)) ? parent : makePrivateParent(REACHABLE_PLACE, user);
  });
}

/** As short a path as possible: a unix socket's path has at most 107 bytes. @throws RunError */
export function makeSocketDirectory(user: User | null): Promise<ScratchDirectory> {
  return make(socketPlace(), "", user, () => makePrivateParent(socketPlace(), user));
}

async function make(
  place: string,
  prefix: string,
  user: User | null,
  parentOf: () => Promise<string>,
): Promise<ScratchDirectory> {
  const name = `${prefix}${ownProcessTag()}-${randomBytes(4).toString("hex")}`;
  let parent: string;
  try {
    parent = await parentOf();
    await (await openPrivate(parent)).close();
    await mkdir(join(parent, name), { mode: 0o700 });
    if (user !== null) await chown(join(parent, name), user.uid, user.gid);
  } catch (error) {
    if (error instanceof RunError) throw error;
    throw cannotMake(place, error);
  }
  return { path: join(parent, name), remove: () => remove(parent, name) };
}

async function remove(path: string, name: string): Promise<void> {
  const parent = await openPrivate(path);
  try {
    if ((await tryToRemove(parent, name)) !== null) await markAsLeft(parent, name);
  } finally {
    await parent.close();
  }
}

function cannotMake(parent: string, error: unknown): RunError {
  return new RunError(
    isDiskFull(error) ? "disk_full" : "sandbox_failed",
    `no scratch directory could be made in ${parent} (${errorCode(error) ?? "unknown error"})`,
    { cause: error },
  );
}

/** Whether another user can walk to it: every directory above must let others through. */
async function isReachable(path: string): Promise<boolean> {
  for (let directory = path; ; directory = dirname(directory)) {
    const { mode } = await stat(directory).catch(() => ({ mode: 0 }));
    if ((mode & 0o001) === 0) return false;
    if (directory === dirname(directory)) return true;
  }
}
