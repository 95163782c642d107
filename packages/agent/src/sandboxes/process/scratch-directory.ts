import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isAlive, ownProcessTag } from "../../processes/process-tag.ts";
import type { User } from "../../processes/unprivileged-user.ts";
import { CouldNotRun, isDiskFull } from "../../runs/could-not-run.ts";
import { systemCode } from "../../root/system-code.ts";
import { stopAbandonedServer } from "./abandoned-server.ts";

/** The owner is in the name, so that there is no moment at which a directory exists and its owner is unknown. */
const NAME = /^attestore-([0-9a-f-]+)-[0-9a-f]{8}$/;

export interface ScratchDirectory {
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * A new directory of mode 0700 in `parent`, for plaintext that is thrown away. If we are to hand it to another user who
 * cannot reach `parent`, it is made in /var/tmp instead. Directories of processes that are gone are removed first: that is
 * how what kill -9 leaves behind goes away.
 */
export async function makeScratchDirectory(parent: string, user: User | null): Promise<ScratchDirectory> {
  await mkdir(parent, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw cannotMake(parent, error);
  });
  const reachable = user === null || (await isReachable(parent)) ? parent : "/var/tmp";
  await removeAbandoned(reachable);
  return make(reachable, user);
}

/** As short a path as can be: a unix socket's is at most 107 bytes. */
export async function makeSocketDirectory(user: User | null): Promise<ScratchDirectory> {
  const parent = socketParent();
  await removeAbandoned(parent);
  return make(parent, user);
}

function socketParent(): string {
  return tmpdir().length > 20 ? "/tmp" : tmpdir();
}

async function make(parent: string, user: User | null): Promise<ScratchDirectory> {
  const path = join(parent, `attestore-${ownProcessTag()}-${randomBytes(4).toString("hex")}`);
  try {
    await mkdir(path, { mode: 0o700 });
    if (user !== null) await chown(path, user.uid, user.gid);
  } catch (error) {
    throw cannotMake(parent, error);
  }
  return { path, remove: () => removeTree(path) };
}

function cannotMake(parent: string, error: unknown): CouldNotRun {
  return new CouldNotRun(
    isDiskFull(error) ? "disk_full" : "sandbox_failed",
    `no scratch directory could be made in ${parent} (${systemCode(error) ?? "unknown error"})`,
    { cause: error },
  );
}

/** Directories of ours in `parent` whose process is gone. */
export async function findAbandonedDirectories(parent: string): Promise<string[]> {
  const abandoned: string[] = [];
  for (const name of await readdir(parent).catch(() => [])) {
    const owner = NAME.exec(name)?.[1];
    if (owner === undefined || isAlive(owner)) continue;
    const path = join(parent, name);
    // In /tmp anybody may make such a name. Only root may remove what is not its own, and root follows no link here.
    const { uid } = await stat(path).catch(() => ({ uid: -1 }));
    if (process.getuid?.() === 0 || uid === process.getuid?.()) abandoned.push(path);
  }
  return abandoned;
}

/** Where directories of ours may be, if plaintext belongs in `scratchDir`. */
export function placesOfDirectories(scratchDir: string): string[] {
  return [...new Set([scratchDir, "/var/tmp", socketParent()])];
}

/** Removes them, and stops the server that may still run in one. */
export async function removeAbandoned(parent: string): Promise<string[]> {
  const abandoned = await findAbandonedDirectories(parent);
  for (const path of abandoned) {
    await stopAbandonedServer(path);
    await removeTree(path);
  }
  return abandoned;
}

/** Also where a restored directory forbids its owner to write: then nothing in it can be removed. */
async function removeTree(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 3 };
  try {
    await rm(path, options);
  } catch (error) {
    if (systemCode(error) !== "EACCES" && systemCode(error) !== "EPERM") throw error;
    await openUp(Buffer.from(path));
    await rm(path, options);
  }
}

/** By names as bytes: those of a restored tree need not be UTF-8. */
async function openUp(directory: Buffer): Promise<void> {
  await chmod(directory, 0o700);
  for (const entry of await readdir(directory, { withFileTypes: true, encoding: "buffer" })) {
    if (entry.isDirectory()) await openUp(Buffer.concat([directory, Buffer.from("/"), entry.name]));
  }
}

/** Whether another user can walk to it: every directory above has to let others through. */
async function isReachable(path: string): Promise<boolean> {
  for (let directory = path; ; directory = dirname(directory)) {
    const { mode } = await stat(directory).catch(() => ({ mode: 0 }));
    if ((mode & 0o001) === 0) return false;
    if (directory === dirname(directory)) return true;
  }
}
