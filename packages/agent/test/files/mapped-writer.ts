import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";

const PROGRAM = `
import mmap, signal, sys
file, done = sys.argv[1:]
with open(file, "r+b") as opened: mapped = mmap.mmap(opened.fileno(), 0)
for at in range(0, len(mapped), 4096): mapped[at] = 1
def write(*_):
    mapped[0:5] = b"other"
    with open(done, "w") as pipe: pipe.write("done")
signal.signal(signal.SIGUSR1, write)
print("ready", flush=True)
while True: signal.pause()`;

export interface MappedWriter {
  /** Replaces the file's first five bytes by `other`. This changes none of its times. */
  readonly write: () => void;
  readonly stop: () => void;
}

/** A program that has a file in its memory (mmap), as databases do. `done`: where a pipe may be. */
export async function startMappedWriter(file: string, done: string): Promise<MappedWriter> {
  execFileSync("mkfifo", [done]);
  const program = spawn("python3", ["-c", PROGRAM, file, done], { stdio: ["ignore", "pipe", "inherit"] });
  await once(program.stdout, "data");
  return {
    write: () => void execFileSync("sh", ["-c", `kill -USR1 ${program.pid}; cat "$0"`, done]),
    stop: () => void program.kill("SIGKILL"),
  };
}
