import { spawnSync } from "node:child_process";
import { descendants } from "../../../tests/e2e/harness/processes.ts";

/**
 * What this process has started, the service with its PostgreSQL, gets one core; what it starts from now on, the browser, another. A browser on the
 * service's own cores has dozens of threads that want them at the same moment, and how long a request takes would say more of those.
 */
export function keepApart(): void {
  for (const { pid } of descendants(process.pid)) keepTo(0, pid);
  keepTo(1, process.pid);
}

/** A process that has ended meanwhile needs no core. */
function keepTo(core: number, pid: number): void {
  const { error } = spawnSync("taskset", ["--all-tasks", "--cpu-list", "--pid", String(core), String(pid)]);
  if (error !== undefined) throw error;
}
