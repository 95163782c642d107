import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import type { Finished, Running } from "../../tests/e2e/harness/programs.ts";

/**
 * Runs what follows it as a unit with MemoryDenyWriteExecute=, NoNewPrivileges= and no capabilities
 * would: prctl(2) PR_SET_MDWE (65) is inherited by children, as PR_SET_NO_NEW_PRIVS (38) is.
 */
const RESTRICT = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
for option in (65, 38):
    if libc.prctl(option, 1, 0, 0, 0) != 0:
        sys.exit("prctl %d: %s" % (option, os.strerror(ctypes.get_errno())))
os.execv(sys.argv[1], sys.argv[1:])
`;

/** Nothing of the shell that runs the tests. */
function surroundings(env: Record<string, string | undefined>): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], NODE_ENV: undefined, ...env };
}

export function startRestricted(
  program: string,
  args: readonly string[],
  env: Record<string, string | undefined> = {},
): Running {
  const child = spawn("python3", ["-c", RESTRICT, program, ...args], {
    env: surroundings(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const finished = once(child, "close").then(([code, signal]): Finished => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    stdout,
    stderr,
  }));
  return { child, talk: () => stdout + stderr, finished };
}

export function runRestricted(
  program: string,
  args: readonly string[],
  env: Record<string, string | undefined> = {},
): Promise<Finished> {
  return startRestricted(program, args, env).finished;
}

/** Plain Node under the same restriction: it has to die, or the tests show nothing. */
export function plainNodeDies(): boolean {
  const { status } = spawnSync("python3", ["-c", RESTRICT, process.execPath, "-e", "0"], {
    env: surroundings({}),
  });
  return status !== 0;
}
