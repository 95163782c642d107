import { writeFileSync } from "node:fs";

/**
 * Where the host's memory runs out, the kernel is to end this process and what it starts, and not
 * somebody else's (proc(5), oom_score_adj).
 */
export function preferToEnd(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, "1000");
  } catch {
    // Gone already, or a system without it: the limit of memory is held by another watch.
  }
}
