import { spawnSync } from "node:child_process";

/** What one run of a program with all its children took. */
export interface Timed {
  readonly seconds: number;
  readonly cpu_seconds: number;
  /** The most memory that the program itself had, without its children. */
  readonly own_mib: number;
  /** Of the largest of its processes. */
  readonly rss_mib: number;
}

const MEASURE = `
import json, resource, subprocess, sys, time
started = time.monotonic()
program = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
own_kib = 0
while program.poll() is None:
    # A high-water mark, so that no peak is missed but one of the last moment.
    for line in open(f"/proc/{program.pid}/status"):
        if line.startswith("VmHWM:"):
            own_kib = int(line.split()[1])
    time.sleep(0.01)
seconds = time.monotonic() - started
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"code": program.returncode, "seconds": seconds, "cpu_seconds": used.ru_utime + used.ru_stime, "own_mib": own_kib / 1024, "rss_mib": used.ru_maxrss / 1024}))
`;

/** Of a server that it talks to nothing is counted. */
export function timed(command: readonly string[], env: Readonly<Record<string, string>>): Timed {
  const { status, stdout, stderr } = spawnSync("python3", ["-c", MEASURE, ...command], {
    env: { PATH: process.env["PATH"], ...env },
    encoding: "utf8",
  });
  const { code, ...measured } = JSON.parse(stdout || `{"code": -1}`) as Timed & { code: number };
  if (status !== 0 || code !== 0) throw new Error(`${command[0]} ended with ${code}: ${stderr.slice(-2000)}`);
  return measured;
}

export function shell(script: string, env: Readonly<Record<string, string>>): Timed {
  return timed(["bash", "-euo", "pipefail", "-c", script], env);
}
