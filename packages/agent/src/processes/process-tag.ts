import { readFileSync, readlinkSync } from "node:fs";

/**
 * Identifies one process for as long as the machine runs. A process id alone does not, because
 * another process gets it later: `<pid>-<start time in ticks>-<first half of the boot id>-<pid
 * namespace>`. Safe in a file name.
 */
export type ProcessTag = string;

const TAG = /^([1-9][0-9]{0,9})-([0-9]{1,20})-([0-9a-f]{8})-([0-9]{1,20})$/;

export function ownProcessTag(): ProcessTag {
  const start = startTime(process.pid);
  if (start === null) throw new Error("/proc/self/stat is not readable: attestore needs Linux with /proc");
  return `${process.pid}-${start}-${bootId()}-${pidNamespace()}`;
}

/**
 * False only if that process is certainly gone. A process in another pid namespace (a container
 * that shares the directory) can't be seen from here and counts as alive until the machine
 * restarts.
 */
export function isAlive(tag: ProcessTag): boolean {
  const [, pid, start, boot, namespace] = TAG.exec(tag) ?? [];
  if (pid === undefined || boot !== bootId()) return false;
  if (namespace !== pidNamespace()) return true;
  return startTime(Number(pid)) === start;
}

export function isProcessTag(text: string): boolean {
  return TAG.test(text);
}

/**
 * Field 22 of /proc/PID/stat (proc(5)): ticks from boot to the start of the process. Null if there
 * is no such process.
 */
function startTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in parentheses may itself contain spaces and parentheses.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").slice(0, 8);
}

function pidNamespace(): string {
  return /[0-9]+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
}
