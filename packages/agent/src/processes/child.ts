import { type ChildProcess, spawn } from "node:child_process";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { errorCode } from "@attestore/host/errno";
import { RunError } from "../errors/run-error.ts";
import { coalesce } from "./coalesce.ts";
import { searchPath, temporaryDirectory } from "./search-path.ts";

export interface ChildRequest {
  readonly command: string;
  /** Everyone on the host can see these: never a secret. */
  readonly args: readonly string[];
  /** In addition to a minimal environment: our own secrets are not passed on. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Terminates the child; kills it after a grace period. */
  readonly signal: AbortSignal;
  /** The signal that terminates it; SIGTERM by default. */
  readonly stopSignal?: NodeJS.Signals;
  /** Its output is a dump: `stdout` delivers it in pieces of a MiB. */
  readonly isDump?: boolean;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The first 16 KiB of its stderr. */
  readonly stderr: string;
}

export interface Child {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves after it ended and its output was read. Never rejects. */
  readonly exited: Promise<Exit>;
  /**
   * Sends its stop signal, and SIGKILL after the grace period; resolves when it is gone. Repeats
   * are harmless.
   */
  stop(): Promise<Exit>;
}

const STDERR_BYTES = 16 * 1024;
const GRACE_MS = 5_000;

/**
 * Starts a program with pipes for stdin, stdout and stderr, in a process group of its own: a
 * terminal's Ctrl-C reaches only us, and we stop the program in order.
 * @throws RunError `tool_missing`, `interrupted`.
 */
export async function startChild(request: ChildRequest): Promise<Child> {
  const { command, args, signal } = request;
  if (signal.aborted) throw new RunError("interrupted", "interrupted");
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
    env: { ...minimalEnvironment(), ...request.env },
    ...(request.cwd === undefined ? {} : { cwd: request.cwd }),
    ...(request.user === undefined ? {} : request.user),
  });
  await started(child, command);
  const { stdin, stderr, pid } = child;
  // After a child has exited, Node discards output that nobody reads yet, although it would be read
  // a moment later.
  const stdout = request.isDump === true ? coalesce(child.stdout) : passed(child.stdout);
  if (pid === undefined) throw new Error(`${command} started without a process id`);
  // If a child ends before it has read everything, its exit says so; the broken pipe adds nothing.
  stdin.on("error", () => undefined);

  let errors = "";
  stderr.setEncoding("utf8");
  stderr.on("data", (text: string) => {
    errors = (errors + text).slice(0, STDERR_BYTES);
  });

  const { promise: exited, resolve } = Promise.withResolvers<Exit>();
  let ended: Pick<Exit, "code" | "signal"> | null = null;
  let grace: NodeJS.Timeout | undefined;
  let isStopping = false;
  const settle = (): void => {
    if (ended === null) return;
    clearTimeout(grace);
    signal.removeEventListener("abort", terminate);
    resolve({ ...ended, stderr: errors });
  };
  const terminate = (): void => {
    if (isStopping) return;
    isStopping = true;
    if (ended !== null) return settle();
    child.kill(request.stopSignal ?? "SIGTERM");
    grace = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
  };
  child.once("exit", (code, by) => {
    ended = { code, signal: by };
    if (isStopping) settle();
  });
  // This waits until its output was read. Once the child is being stopped, perhaps nobody reads it
  // any longer, and the exit alone has to be enough.
  child.once("close", settle);
  signal.addEventListener("abort", terminate, { once: true });
  if (signal.aborted) terminate();

  return {
    pid,
    stdin,
    stdout,
    stderr,
    exited,
    stop: () => {
      terminate();
      return exited;
    },
  };
}

function passed(output: Readable): Readable {
  const through = output.pipe(new PassThrough());
  output.once("error", (error) => through.destroy(error));
  return through;
}

function started(child: ChildProcess, command: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => {
      const missing = errorCode(error) === "ENOENT" || errorCode(error) === "EACCES";
      reject(
        missing
          ? new RunError("tool_missing", `the program ${command} is missing or not executable: install it`, {
              cause: error,
            })
          : error,
      );
    });
  });
}

/** Messages in English, whatever the host's language, and nothing of ours that may be secret. */
function minimalEnvironment(): Record<string, string> {
  const environment: Record<string, string> = {
    LC_ALL: "C.UTF-8",
    PATH: searchPath(),
  };
  for (const name of ["HOME", "TZ", "TMPDIR"]) {
    const value = name === "TMPDIR" ? (temporaryDirectory() ?? undefined) : process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}

/** How a child ended, in words: `exit code 1`, `signal SIGKILL`. */
export function endedWith({ code, signal }: Exit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
