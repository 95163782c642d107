import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Finished } from "../../tests/e2e/harness/programs.ts";
import { until } from "../../tests/e2e/harness/wait.ts";

const SCRIPT = join(import.meta.dirname, "throwaway-system.sh");

/**
 * A Debian with a booted systemd, to install into: this machine's files, as a copy that is thrown
 * away.
 */
export interface ThrowawaySystem {
  /** Where its files are, as seen from here. */
  readonly root: string;
  /** Runs a program in it, as root. */
  readonly run: (command: readonly string[], env?: Record<string, string>) => Finished;
  /** The same for one that has to succeed; answers its stdout. */
  readonly must: (...command: string[]) => string;
  readonly stop: () => Promise<void>;
}

export async function bootThrowawaySystem(): Promise<ThrowawaySystem> {
  const directory = mkdtempSync(join(tmpdir(), "attestore-system-"));
  const script = spawn(SCRIPT, [directory], { stdio: ["pipe", "pipe", "pipe"] });
  let talk = "";
  for (const stream of [script.stdout, script.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (talk = (talk + text).slice(-10_000)));
  const stop = async (): Promise<void> => {
    const ended = once(script, "close");
    if (script.exitCode === null) {
      script.stdin.end();
      await ended;
    }
    rmdirSync(directory);
  };
  try {
    const pid = await until("systemd starts", () => systemdOf(script), 30);
    const run: ThrowawaySystem["run"] = (command, env = {}) => runIn(pid, command, env);
    await until(
      "the system has booted",
      () => {
        if (script.exitCode !== null) throw new Error("it ended");
        return /^(running|degraded)/.test(run(["systemctl", "is-system-running"]).stdout);
      },
      60,
    );
    const must = (...command: string[]): string => {
      const { code, stdout, stderr } = run(command);
      if (code !== 0) {
        const units = run(["systemctl", "status", "--all", "--no-pager", "attestore*"]).stdout;
        const journal = run(["journalctl", "--no-pager", "-n", "60"]).stdout;
        throw new Error(
          [`${command.join(" ")}: exit code ${code}`, stdout, stderr, "systemd:", talk, units, journal].join(
            "\n",
          ),
        );
      }
      return stdout;
    };
    return { root: `/proc/${pid}/root`, run, must, stop };
  } catch (error) {
    await stop();
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${talk}`, { cause: error });
  }
}

/** The script's grandchild, once it is systemd. */
function systemdOf(script: ChildProcess): number | null {
  let pid = script.pid ?? 0;
  for (let generation = 0; generation < 2; generation++) {
    const [child] = childrenOf(pid);
    if (child === undefined) return null;
    pid = child;
  }
  return readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "systemd" ? pid : null;
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
      .trim()
      .split(" ")
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}

function runIn(pid: number, command: readonly string[], env: Record<string, string>): Finished {
  const enter = ["-t", String(pid), "-m", "-u", "-i", "-p", "-C", "--root", "--wd"];
  const { status, signal, stdout, stderr, error } = spawnSync("nsenter", [...enter, ...command], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root", LC_ALL: "C.UTF-8", ...env },
  });
  if (error) throw error;
  return { code: status, signal, stdout, stderr };
}
