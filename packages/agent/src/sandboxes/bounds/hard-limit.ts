import { readFileSync } from "node:fs";

/** Our own limit, which no program may exceed (proc(5), /proc/PID/limits). */
export function hardLimit(name: string): number {
  const line = readFileSync("/proc/self/limits", "latin1")
    .split("\n")
    .find((each) => each.startsWith(name));
  const hard = line?.slice(name.length).trim().split(/\s+/)[1];
  return hard === undefined || hard === "unlimited" ? Number.POSITIVE_INFINITY : Number(hard);
}
