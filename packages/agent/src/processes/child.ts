import { type ChildProcess, spawn } from "node:child_process";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { errorCode } from "@attestore/host/errno";
import { RunError } from "../errors/run-error.ts";
import { gather } from "./gather.ts";
import { searchPath, temporaryDirectory } from "./search-path.ts";

export interface ChildRequest {
  readonly command: string;
  /** Seen by everyone on the host: never a secret. */
  readonly args: readonly string[];
  /** On top of a minimal environment: secrets of ours are not handed down. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Terminates the child; after a grace it is killed. */
  readonly signal: AbortSignal;
  /** What terminates it: SIGTERM unless it says otherwise. */
  readonly stopSignal?: NodeJS.Signals;
  /** Its output is a dump: `stdout` gives it in pieces of a MiB. */
  readonly isDump?: boolean;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it wrote to stderr, its first 16 KiB. */
  readonly stderr: string;
}

export interface Child {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** After it ended and its output was read. Never rejects. */
  readonly exited: Promise<Exit>;
  /**
   * Its stop signal, and SIGKILL after the grace; resolves when it is gone. Repeats are harmless.
   */
  stop(): Promise<Exit>;
}

const STDERR_BYTES = 16 * 1024;
const GRACE_MS = 5_000;

/**
 * Starts a program with pipes for stdin, stdout and stderr, in a process group of its own: a terminal's Ctrl-C reaches
 * us alone, and we stop it in order.
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
  // Once a child has exited Node empties what nobody reads yet: output would be lost that is read a
  // moment later.
  const stdout = request.isDump === true ? gather(child.stdout) : passed(child.stdout);
  if (pid === undefined) throw new Error(`${command} started without a process id`);
  // A child that goes away before it has read everything is told by its exit; the broken pipe says
  // nothing more.
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
  // This waits until its output was read. Once it is being stopped nobody may read on: then the
  // exit alone has to do.
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

/** Messages in English whatever the host speaks, and nothing of ours that may be secret. */
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
