import { text } from "node:stream/consumers";
import { type Child, endedWith, type Exit, startChild } from "../../processes/child.ts";
import { findProgram } from "../../processes/find-program.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import { referredText } from "../connection-text.ts";
import { RestoreRefused } from "../engine.ts";
import type { ResticSettings } from "../../config/engines/restic.ts";
import { openIsolatedPlace } from "../../sandboxes/isolation/open-isolated-place.ts";
import type { Place } from "../../sandboxes/place.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { connectRestic } from "./connect-restic.ts";
import { openRepository } from "./open-repository.ts";
import { type ServedRepository, serveRepository } from "./serve-repository.ts";

/** Variables for reaching a repository that is not on this host. We pass them to restic only. */
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

/** Restic on one repository. It only reads, and leaves no lock and no cache. */
export class Restic {
  readonly #signal: AbortSignal;
  readonly #startOne: StartRestic;
  readonly #close: () => Promise<void>;
  #served: ServedRepository | null = null;

  private constructor(signal: AbortSignal, startOne: StartRestic, close: () => Promise<void>) {
    this.#signal = signal;
    this.#startOne = startOne;
    this.#close = close;
  }

  /**
   * Runs in a throw-away place. There, restic has the repository's password, and of the repository
   * only what we read for it. If config.yaml says so, it runs as the agent instead.
   * @throws RunError `connection_reference`, `ciphertext_unavailable`, `sandbox_failed`
   */
  static async open(settings: ResticSettings, context: RunContext): Promise<Restic> {
    const { text: secret } = await referredText(settings.password, "the repository's password");
    if (settings.as_agent) return Restic.#asAgent(settings, secret, context);
    const { signal } = context;
    const repository = await openRepository(settings.repository);
    let place: Place;
    try {
      place = await openIsolatedPlace(context);
    } catch (error) {
      await repository.close();
      throw error;
    }
    let started = 0;
    const ending: (() => Promise<void>)[] = [];
    const startOne: StartRestic = async (args) => {
      const connection = await connectRestic(place, (started += 1), signal);
      const served = serveRepository(connection.stream, repository);
      // Close the pipes, because restic would wait for an answer for ever.
      const closed = served.closed.then(() => connection.close());
      ending.push(() => {
        served.close();
        return closed;
      });
      try {
        const child = await place.start({
          command: "restic",
          args: [...connection.options, ...args],
          env: { HOME: place.home },
          signal,
        });
        child.stdin.end(`${secret}\n`);
        void child.exited.then(() => served.close());
        return { child, served };
      } catch (error) {
        served.close();
        throw error;
      }
    };
    return new Restic(signal, startOne, async () => {
      await Promise.all(ending.map((end) => end()));
      await place.close();
      await repository.close();
    });
  }

  static #asAgent({ repository }: ResticSettings, secret: string, context: RunContext): Restic {
    const { signal, confinement } = context;
    const env: Record<string, string> = {};
    for (const [name, value] of Object.entries(process.env))
      if (value !== undefined && HANDED_DOWN.test(name)) env[name] = value;
    for (const name of ["RESTIC_PASSWORD_FILE", "RESTIC_PASSWORD_COMMAND", "RESTIC_REPOSITORY_FILE"])
      delete env[name];
    confinement?.heldBy("none");
    const whole = { ...env, RESTIC_REPOSITORY: repository, RESTIC_PASSWORD: secret };
    const startOne: StartRestic = async (args) => {
      const child = await startChild({ command: "restic", args, env: whole, signal });
      child.stdin.end();
      return { child, served: null };
    };
    return new Restic(signal, startOne, () => Promise.resolve());
  }

  /** Gets no stdin. */
  async start(args: readonly string[]): Promise<Pick<Child, "stdout" | "exited" | "stop">> {
    const { child, served } = await this.#startOne(["--no-lock", "--no-cache", "--quiet", ...args]);
    this.#served = served;
    child.stderr.on("data", (text: string) => {
      // What we found wrong or missing will be the same in a quarter of an hour. Restic would try
      // again for that long.
      if (served !== null && !served.mayPass() && RETRYING.test(text)) void child.stop();
    });
    return child;
  }

  /**
   * Returns the JSON that a command prints.
   * @throws RunError, RestoreRefused
   */
  async json(args: readonly string[], what: string): Promise<unknown> {
    const child = await this.start([...args, "--json"]);
    const [output, exit] = await Promise.all([text(child.stdout), child.exited]);
    stopIfAborted(this.#signal);
    if (exit.code !== 0) throw this.failed(exit, what);
    try {
      return JSON.parse(output);
    } catch {
      throw new RunError("dump_failed", `restic printed no JSON while ${what}`);
    }
  }

  /** Why the last command failed. */
  failed(exit: Exit, what: string): RunError | RestoreRefused {
    const unreadable = this.#served?.unreadable() ?? null;
    if (unreadable !== null)
      return new RunError("ciphertext_unavailable", `${unreadable.message}, while ${what}`, {
        cause: unreadable,
      });
    return resticFailed(exit, what, this.#served?.damaged() ?? null);
  }

  async close(): Promise<void> {
    await this.#close();
  }
}

type StartRestic = (
  args: readonly string[],
) => Promise<{ readonly child: Child; readonly served: ServedRepository | null }>;

/**
 * restic's messages about changed data. Anything else may be a problem on the way to the
 * repository.
 */
const DAMAGED =
  /ciphertext verification failed|hash(?:es)? (?:does|do) not match|invalid data returned|not found in (?:index|repository)|unable to load|load blob|loadBlob|no such file or directory|file does not exist|unexpected EOF|wrong size|truncated|invalid character|size mismatch|short read|no matching ID found|errors? found|There were [0-9]+ errors/i;
const NO_REPOSITORY = /unable to open config file:[^\n]*(?:does not exist|no such file|not found)/i;
const RETRYING = /returned error, retrying/;
/** Go's tar, which restic uses. The rest of its line has a file's attributes with their values. */
const NOT_ARCHIVED = /archive\/tar: cannot encode header/;
const OF_THE_PLACE =
  /wrong password|no key found|unable to open config|Is there a repository|connection refused|no such host|permission denied|timeout|no space left/i;

function resticFailed(exit: Exit, what: string, damaged: string | null): RunError | RestoreRefused {
  const lines = exit.stderr.split("\n").filter((line) => line.trim() !== "");
  // What comes after its last word may only be where the repository is.
  const last = (lines.find((line) => line.startsWith("Fatal: ")) ?? lines.at(-1) ?? "").slice(0, 300);
  if (/no space left/i.test(exit.stderr))
    return new RunError(
      "disk_full",
      "the scratch directory's file system filled up during the restore: give it more space",
    );
  if (NOT_ARCHIVED.test(exit.stderr))
    return new RunError(
      "sandbox_lacks",
      `restic cannot put all files of the snapshot into an archive (${what}): mostly one has an extended attribute with = in its name. ` +
        "Remove that attribute (getfattr -R shows it, setfattr -x removes it) and make another snapshot, or test one file of it (file:)",
    );
  const hasEnded = exit.signal === null || RETRYING.test(exit.stderr);
  if (hasEnded && !OF_THE_PLACE.test(exit.stderr) && (damaged !== null || DAMAGED.test(exit.stderr)))
    return new RestoreRefused(
      `restic cannot restore the snapshot's content (${what}, ${damaged ?? endedWith(exit)})`,
    );
  if (NO_REPOSITORY.test(exit.stderr))
    return new RunError(
      "ciphertext_unavailable",
      `there is no restic repository at the source's repository (${what}): it has no readable file "config". Check that place, and that its file system is mounted`,
    );
  return new RunError(
    "ciphertext_unavailable",
    `restic ended with ${endedWith(exit)} while ${what}: ${last}`,
  );
}
