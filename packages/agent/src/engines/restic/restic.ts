import { text } from "node:stream/consumers";
import { type Child, endedWith, type Exit, startChild } from "../../processes/child.ts";
import { findProgram } from "../../processes/find-program.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import { referredText } from "../connection-text.ts";
import { RestoreRefused } from "../engine.ts";
import type { ResticSettings } from "../../config/engines/restic.ts";

/** What a repository that is not on this host is reached with; ours to hand down, to restic alone. */
const HANDED_DOWN =
  /^(?:RESTIC_|AWS_|B2_|AZURE_|GOOGLE_|OS_|ST_|RCLONE_|SSH_AUTH_SOCK$|HTTPS?_PROXY$|NO_PROXY$)/;

/** @throws RunError `tool_missing` */
export async function resticVersion(signal: AbortSignal): Promise<string> {
  const found = await findProgram("restic");
  if (found === null) throw new RunError("tool_missing", "restic is not installed here: install restic");
  const child = await startChild({ command: found, args: ["version"], signal });
  child.stdin.end();
  const output = await text(child.stdout);
  await child.exited;
  return /^restic ([0-9]+\.[0-9]+\.[0-9]+)/.exec(output)?.[1] ?? "unknown";
}

/** Restic on one repository: it reads, and leaves no lock and no cache. */
export class Restic {
  readonly #env: Readonly<Record<string, string>>;
  readonly #signal: AbortSignal;
  /** A directory of this host: what is not there now will not be there in a quarter of an hour, for which restic tries. */
  readonly #isLocal: boolean;

  private constructor(env: Readonly<Record<string, string>>, isLocal: boolean, signal: AbortSignal) {
    this.#env = env;
    this.#isLocal = isLocal;
    this.#signal = signal;
  }

  /** @throws RunError `connection_reference` */
  static async open({ repository, password }: ResticSettings, signal: AbortSignal): Promise<Restic> {
    const { text: secret } = await referredText(password, "the repository's password");
    const env: Record<string, string> = {};
    for (const [name, value] of Object.entries(process.env))
      if (value !== undefined && HANDED_DOWN.test(name)) env[name] = value;
    for (const name of ["RESTIC_PASSWORD_FILE", "RESTIC_PASSWORD_COMMAND", "RESTIC_REPOSITORY_FILE"])
      delete env[name];
    const isLocal = !/^[a-z0-9]+:/.test(repository);
    return new Restic({ ...env, RESTIC_REPOSITORY: repository, RESTIC_PASSWORD: secret }, isLocal, signal);
  }

  async start(args: readonly string[]): Promise<Child> {
    const child = await startChild({
      command: "restic",
      args: ["--no-lock", "--no-cache", "--quiet", ...args],
      env: this.#env,
      signal: this.#signal,
    });
    child.stderr.on("data", (text: string) => {
      if (this.#isLocal && RETRYING.test(text)) void child.stop();
    });
    return child;
  }

  /** The JSON that a command prints. @throws RunError, RestoreRefused */
  async json(args: readonly string[], what: string): Promise<unknown> {
    const child = await this.start([...args, "--json"]);
    child.stdin.end();
    const [output, exit] = await Promise.all([text(child.stdout), child.exited]);
    stopIfAborted(this.#signal);
    if (exit.code !== 0) throw resticFailed(exit, what);
    try {
      return JSON.parse(output);
    } catch {
      throw new RunError("dump_failed", `restic printed no JSON when ${what}`);
    }
  }
}

/** What restic says of data that are not what they were; all else may be the way to the repository. */
const DAMAGED =
  /ciphertext verification failed|hash(?:es)? (?:does|do) not match|invalid data returned|not found in (?:index|repository)|unable to load|load blob|loadBlob|no such file or directory|file does not exist|unexpected EOF|wrong size|truncated|invalid character|size mismatch|short read|no matching ID found|errors? found|There were [0-9]+ errors/i;
const RETRYING = /returned error, retrying/;
const OF_THE_PLACE =
  /wrong password|no key found|unable to open config|Is there a repository|connection refused|no such host|permission denied|timeout|no space left/i;

export function resticFailed(exit: Exit, what: string): RunError | RestoreRefused {
  const lines = exit.stderr.split("\n").filter((line) => line.trim() !== "");
  const last = (lines.at(-1) ?? "").slice(0, 300);
  if (/no space left/i.test(exit.stderr))
    return new RunError(
      "disk_full",
      "the scratch directory's file system filled up during the restore: give it more room",
    );
  const hasEnded = exit.signal === null || RETRYING.test(exit.stderr);
  if (hasEnded && !OF_THE_PLACE.test(exit.stderr) && DAMAGED.test(exit.stderr))
    return new RestoreRefused(
      `restic cannot give back what the snapshot holds (${what}, ${endedWith(exit)})`,
    );
  return new RunError("ciphertext_unavailable", `restic ended with ${endedWith(exit)} when ${what}: ${last}`);
}
