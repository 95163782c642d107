import { spawnSync } from "node:child_process";

/** What one run of a program with all its children took. */
export interface Timed {
  readonly seconds: number;
  /** Of all its processes. */
  readonly cpu_seconds: number;
  /** The most memory that the program itself had, without its children. */
  readonly own_mib: number;
  /** Of the largest of its processes. */
  readonly rss_mib: number;
}

/**
 * In a control group of its own (version 1 or 2), since the kernel does not add the time of a
 * process that is killed with its namespace to its parent's.
 */
const MEASURE = `
import json, os, resource, subprocess, sys, time
base = "/sys/fs/cgroup/cpuacct" if os.path.isdir("/sys/fs/cgroup/cpuacct") else "/sys/fs/cgroup"
group = f"{base}/attestore-bench-{os.getpid()}"
os.mkdir(group)
def enter():
    open(f"{group}/cgroup.procs", "w").write(str(os.getpid()))
def used_s():
    if os.path.exists(f"{group}/cpuacct.usage"):
        return int(open(f"{group}/cpuacct.usage").read()) / 1e9
    return int(open(f"{group}/cpu.stat").readline().split()[1]) / 1e6
started = time.monotonic()
program = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, preexec_fn=enter)
own_kib = 0
while program.poll() is None:
    # A high-water mark, so that no peak is missed but one of the last moment.
    for line in open(f"/proc/{program.pid}/status"):
        if line.startswith("VmHWM:"):
            own_kib = int(line.split()[1])
    time.sleep(0.01)
seconds = time.monotonic() - started
# What was killed with it may take a moment to be gone.
while open(f"{group}/cgroup.procs").read():
    time.sleep(0.01)
cpu_seconds = used_s()
os.rmdir(group)
rss_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps({"code": program.returncode, "seconds": seconds, "cpu_seconds": cpu_seconds, "own_mib": own_kib / 1024, "rss_mib": rss_kib / 1024}))
`;

/** Needs root. Of a server that it talks to and did not start, nothing is counted. */
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
