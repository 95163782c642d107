import { spawnSync } from "node:child_process";
import { descendants } from "../../../tests/e2e/harness/processes.ts";

/**
 * Gives one core to what this process has started (the service with its PostgreSQL), and another to
 * what it starts from now on (the browser). On the same cores, the browser's dozens of threads
 * would compete with the service, and request times would mostly measure that.
 */
export function keepApart(): void {
  for (const { pid } of descendants(process.pid)) keepTo(0, pid);
  keepTo(1, process.pid);
}

/** A process that has already ended needs no core. */
function keepTo(core: number, pid: number): void {
  const { error } = spawnSync("taskset", ["--all-tasks", "--cpu-list", "--pid", String(core), String(pid)]);
  if (error !== undefined) throw error;
}
