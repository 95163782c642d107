import { constants } from "node:fs";
import { lstat, open, readlink, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { realpath } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/**
 * Stops the PostgreSQL that still runs on `<directory>/data` although whoever started it is gone. A
 * restored dump may have written the files in the directory, and the process id in postmaster.pid
 * may long belong to another process. So it is killed only if it is a `postgres` of the directory's
 * own user whose working directory is that very data directory. No other process has that, and no
 * link leads to another one.
 */
export async function stopAbandonedServer(directory: string): Promise<void> {
  const data = join(directory, "data");
  const pid = await postmasterId(data);
  if (pid === null) return;
  for (let attempt = 0; attempt < 100 && (await isPostmasterOf(pid, directory)); attempt++) {
    try {
      process.kill(pid, "SIGQUIT");
    } catch {
      return;
    }
    await delay(50);
  }
}

async function postmasterId(data: string): Promise<number | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(join(data, "postmaster.pid"), flags).catch(() => null);
  if (file === null) return null;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(64), 0, 64, 0);
    const [first = ""] = buffer.toString("latin1", 0, bytesRead).split("\n");
    return /^[1-9][0-9]{0,9}$/.test(first) ? Number(first) : null;
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

async function isPostmasterOf(pid: number, directory: string): Promise<boolean> {
  try {
    const [program, workingDirectory, process, owner, parent] = await Promise.all([
      readlink(`/proc/${pid}/exe`),
      readlink(`/proc/${pid}/cwd`),
      stat(`/proc/${pid}`),
      lstat(directory),
      realpath(dirname(directory)),
    ]);
    return (
      basename(program) === "postgres" &&
      workingDirectory === join(parent, basename(directory), "data") &&
      process.uid === owner.uid
    );
  } catch {
    return false;
  }
}
