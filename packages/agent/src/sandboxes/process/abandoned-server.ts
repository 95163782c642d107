import { readFile, readlink, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/**
 * Stops the PostgreSQL that still runs on `<directory>/data` although whoever started it is gone.
 *
 * The process id in postmaster.pid may long be another process's. So it is killed only if it is a `postgres` whose
 * working directory is that data directory, which no other process has.
 */
export async function stopAbandonedServer(directory: string): Promise<void> {
  const data = join(directory, "data");
  const pid = await postmasterId(data);
  if (pid === null) return;
  for (let attempt = 0; attempt < 100 && (await isPostmasterOf(pid, data)); attempt++) {
    try {
      process.kill(pid, "SIGQUIT");
    } catch {
      return;
    }
    await delay(50);
  }
}

async function postmasterId(data: string): Promise<number | null> {
  const text = await readFile(join(data, "postmaster.pid"), "latin1").catch(() => "");
  const [first = ""] = text.split("\n");
  return /^[1-9][0-9]{0,9}$/.test(first) ? Number(first) : null;
}

async function isPostmasterOf(pid: number, data: string): Promise<boolean> {
  try {
    const [program, workingDirectory] = await Promise.all([
      readlink(`/proc/${pid}/exe`),
      readlink(`/proc/${pid}/cwd`),
    ]);
    return basename(program) === "postgres" && workingDirectory === (await realpath(data));
  } catch {
    return false;
  }
}
