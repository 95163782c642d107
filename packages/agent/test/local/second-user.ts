/** A second user of this host, and calls of ours that run as somebody else than root. */
import { execFileSync, spawnSync } from "node:child_process";
import { ownProcessTag } from "../../src/processes/process-tag.ts";

/** Debian's `nobody`, and an account that owns something here. */
export const MALLORY = { uid: 65_534, gid: 65_534 };
export const ALICE = { uid: 2_001, gid: 2_001 };

interface Id {
  readonly uid: number;
  readonly gid: number;
}

/** A shell script of that user's. */
export function as({ uid, gid }: Id, script: string, cwd = "/"): string {
  const args = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "sh", "-euc", script];
  return execFileSync("setpriv", args, { cwd, encoding: "utf8" });
}

/** A program of ours, in TypeScript, as that user; gives what it printed. */
export function programAs(
  { uid, gid }: Id,
  program: string,
  env: Record<string, string> = {},
): { readonly status: number | null; readonly output: string } {
  const node = [process.execPath, "--no-warnings", "--input-type=module", "--eval", program];
  const args = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", ...node];
  const { status, stdout, stderr } = spawnSync("setpriv", args, {
    cwd: import.meta.dirname,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  return { status, output: stdout + stderr };
}

/** The name of a scratch directory of a process that is gone. */
export function abandonedName(prefix = "attestore-"): string {
  const [pid, start, ...rest] = ownProcessTag().split("-");
  return `${prefix}${[pid, Number(start) + 1, ...rest].join("-")}-01234567`;
}

/** The import of a module of ours, for `programAs`. */
export function moduleOf(path: string): string {
  return JSON.stringify(`${import.meta.dirname}/../../src/${path}`);
}
