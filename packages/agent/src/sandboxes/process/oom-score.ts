import { writeFileSync } from "node:fs";

/**
 * If the host runs out of memory, the kernel should end this process and what it starts, and not
 * somebody else's (proc(5), oom_score_adj).
 */
export function raiseOomScore(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, "1000");
  } catch {
    // Gone already, or a system without this: another watch enforces the memory limit.
  }
}
