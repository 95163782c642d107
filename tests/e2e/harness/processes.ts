import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface Process {
  pid: number;
  command: string;
}

/** The living processes that were started with a path under the directory, or that work in it. */
export function processesUnder(directory: string): Process[] {
  const found: Process[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      if (command === "") continue;
      const works = readlinkSync(`/proc/${pid}/cwd`);
      if (command.includes(directory) || works.startsWith(directory)) found.push({ pid, command });
    } catch {
      // It ended while we looked.
    }
  }
  return found;
}

/** Every descendant of a process. */
export function descendants(root: number): Process[] {
  const children = new Map<number, Process[]>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      children.set(parent, [...(children.get(parent) ?? []), { pid, command }]);
    } catch {
      // It ended while we looked.
    }
  }
  const all: Process[] = [];
  const walk = (pid: number): void => {
    for (const child of children.get(pid) ?? []) {
      all.push(child);
      walk(child.pid);
    }
  };
  walk(root);
  return all;
}
