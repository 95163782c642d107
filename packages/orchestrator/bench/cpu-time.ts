import { readdirSync, readFileSync } from "node:fs";

const TICKS_A_SECOND = 100;

interface ProcessTimes {
  parent: number;
  name: string;
  seconds: number;
}

/** CPU seconds used so far by a process, and by its descendants that are PostgreSQL. From /proc. */
export function cpuSeconds(pid: number): { own: number; postgres: number } {
  const all = readAll();
  let postgres = 0;
  for (const [id, times] of all)
    if (times.name === "postgres" && descends(all, id, pid)) postgres += times.seconds;
  return { own: all.get(pid)?.seconds ?? NaN, postgres };
}

/** The same of a process with its workers: PostgreSQL, and all others together. */
export function treeSeconds(pid: number): { others: number; postgres: number } {
  const all = readAll();
  const sum = { others: 0, postgres: 0 };
  for (const [id, { name, seconds }] of all)
    if (id === pid || descends(all, id, pid)) sum[name === "postgres" ? "postgres" : "others"] += seconds;
  return sum;
}

function readAll(): Map<number, ProcessTimes> {
  const all = new Map<number, ProcessTimes>();
  for (const entry of readdirSync("/proc")) {
    const times = /^\d+$/.test(entry) ? readTimes(entry) : null;
    if (times !== null) all.set(Number(entry), times);
  }
  return all;
}

function descends(all: ReadonlyMap<number, ProcessTimes>, pid: number, ancestor: number): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 1; at = all.get(at)?.parent)
    if (at === ancestor) return true;
  return false;
}

/**
 * proc(5): after the name in parentheses come state, parent, …, utime (14) and stime (15). Of
 * PostgreSQL also cutime and cstime, of its children that have ended: a connection may close
 * meanwhile.
 */
function readTimes(pid: string): ProcessTimes | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, name === "postgres" ? 15 : 13).map(Number);
    const seconds = ticks.reduce((sum, one) => sum + one, 0) / TICKS_A_SECOND;
    return { parent: Number(fields[1]), name, seconds };
  } catch {
    return null; // It ended meanwhile.
  }
}
