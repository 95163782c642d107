import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { connect } from "node:net";
import type { Readable, Writable } from "node:stream";
import { errorCode } from "@attestore/host/errno";
import { findProgram, isExecutable } from "../../processes/find-program.ts";
import {
  countFrame,
  DIRECT,
  type Ended,
  frame,
  FRAME,
  type Frame,
  FrameDecoder,
  jsonFrame,
  MAX_PAYLOAD,
  type Ready,
  type StartRequest,
  WINDOW,
} from "./frames.ts";
import type { SandboxLimits } from "../bounds/sandbox-limits.ts";
import { hardLimit } from "../bounds/hard-limit.ts";
import { holdsMore, watchDisk } from "../bounds/watch-disk.ts";

export interface ServedSandbox extends Ready {
  /** The user that programs run as; null for the current one. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** The directory is watched here; otherwise our starter watches it. */
  readonly watchesDisk: boolean;
}

/**
 * The inside of a sandbox: starts the programs that the agent asks for, and relays their streams.
 * It looks at nothing that they print. Resolves when the agent is gone, or a limit is reached. Then
 * nothing that it started may run on: whoever made the sandbox takes care of that (the unit's
 * control group, the process namespace), and here each program's group is killed.
 */
export async function serveSandbox(input: Readable, output: Writable, sandbox: ServedSandbox): Promise<void> {
  const decoder = new FrameDecoder();
  const programs = new Map<number, Program>();
  let limits: SandboxLimits | null = null;
  const over = Promise.withResolvers<void>();
  const stopWatching = new AbortController();
  const send = (bytes: Buffer): void => void output.write(bytes);
  output.on("error", () => over.resolve());
  input.once("end", () => over.resolve());
  input.once("close", () => over.resolve());
  input.on("error", () => over.resolve());

  const take = ({ type, channel, payload }: Frame): void => {
    const program = programs.get(channel);
    if (type === FRAME.limits) {
      limits = JSON.parse(payload.toString()) as SandboxLimits;
      if (sandbox.watchesDisk)
        void watchDisk(sandbox.home, limits.disk_bytes, stopWatching.signal).then((limit) => {
          if (limit === null) return;
          for (const each of programs.values()) each.kill("SIGKILL");
          output.write(frame(FRAME.limit, 0, Buffer.from(limit)), () => over.resolve());
        });
    } else if (type === FRAME.start && limits !== null && program === undefined) {
      const started = new Program(channel, sandbox, limits, send, () => programs.delete(channel));
      programs.set(channel, started);
      void started.start(JSON.parse(payload.toString()) as StartRequest);
    } else if (program === undefined) return;
    else if (type === FRAME.stdin) program.write(Buffer.from(payload));
    else if (type === FRAME.stdinEnd) program.end();
    else if (type === FRAME.kill) program.kill(payload.toString() as NodeJS.Signals);
    else if (type === FRAME.outputTaken) program.taken("stdout", payload.readUInt32BE());
    else if (type === FRAME.errorsTaken) program.taken("stderr", payload.readUInt32BE());
  };
  send(jsonFrame(FRAME.ready, 0, readyOf(sandbox)));
  input.on("data", (bytes: Buffer) => {
    try {
      for (const each of decoder.push(bytes)) take(each);
    } catch {
      over.resolve();
    }
  });
  await over.promise;
  stopWatching.abort();
  for (const each of programs.values()) each.kill("SIGKILL");
}

function readyOf({ home, sockets, self }: ServedSandbox): Ready {
  return { home, sockets, self };
}

/** A program, or a connection in the form of one. */
type Carried = EventEmitter & Pick<ChildProcess, "stdin" | "stdout" | "stderr" | "pid">;

/** One program, by its channel. */
class Program {
  readonly #channel: number;
  readonly #sandbox: ServedSandbox;
  readonly #limits: SandboxLimits;
  readonly #send: (bytes: Buffer) => void;
  readonly #onEnd: () => void;
  readonly #unread = { stdout: 0, stderr: 0 };
  /** Bytes that came before it was started. */
  readonly #early: (() => void)[] = [];
  #child: Carried | null = null;
  #isKilled = false;
  #ended: Ended | null = null;
  #isTold = false;

  constructor(
    channel: number,
    sandbox: ServedSandbox,
    limits: SandboxLimits,
    send: (bytes: Buffer) => void,
    onEnd: () => void,
  ) {
    this.#channel = channel;
    this.#sandbox = sandbox;
    this.#limits = limits;
    this.#send = send;
    this.#onEnd = onEnd;
  }

  async start({ command, args, env, cwd, socket, isDirect }: StartRequest): Promise<void> {
    const { user, home } = this.#sandbox;
    if (socket !== undefined) return this.#connect(socket);
    const path = command.includes("/") ? command : await findProgram(command);
    if (path === null || !(await isExecutable(path))) return this.#failed("ENOENT");
    const { processes, file_bytes } = this.#limits;
    const limits = [
      "--core=0",
      `--nproc=${Math.min(processes, hardLimit("Max processes"))}`,
      `--fsize=${Math.min(file_bytes, hardLimit("Max file size"))}`,
    ];
    const child = spawn("prlimit", [...limits, "--", path, ...args], {
      stdio: [isDirect === true ? DIRECT : "pipe", "pipe", "pipe"],
      // A group of its own, which can be killed as a whole.
      detached: true,
      cwd: cwd ?? home,
      env: {
        LC_ALL: "C.UTF-8",
        PATH: process.env["PATH"] ?? "/usr/bin:/bin",
        HOME: home,
        TMPDIR: home,
        ...env,
      },
      ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
    });
    child.once("error", (error) => this.#failed(errorCode(error) ?? "EIO"));
    child.once("spawn", () => this.#begin(child));
  }

  #connect(path: string): void {
    const socket = connect(path);
    socket.once("error", (error) => {
      if (this.#child === null) this.#failed(errorCode(error) ?? "EIO");
    });
    socket.once("connect", () => {
      const carried = Object.assign(new EventEmitter(), {
        stdin: socket,
        stdout: socket,
        stderr: null,
        pid: undefined,
      });
      socket.once("close", () => {
        carried.emit("exit", 0, null);
        carried.emit("close");
      });
      this.#begin(carried);
    });
  }

  #begin(child: Carried): void {
    this.#child = child;
    this.#send(frame(FRAME.started, this.#channel));
    for (const each of this.#early) each();
    this.#carry(child);
  }

  #failed(code: string): void {
    this.#send(frame(FRAME.notStarted, this.#channel, Buffer.from(code)));
    this.#onEnd();
  }

  #carry(child: Carried): void {
    child.stdin?.on("error", () => undefined);
    for (const name of ["stdout", "stderr"] as const) {
      const type = name === "stdout" ? FRAME.stdout : FRAME.stderr;
      child[name]?.on("data", (bytes: Buffer) => {
        for (let at = 0; at < bytes.length; at += MAX_PAYLOAD)
          this.#send(frame(type, this.#channel, bytes.subarray(at, at + MAX_PAYLOAD)));
        this.#unread[name] += bytes.length;
        if (this.#unread[name] >= WINDOW) child[name]?.pause();
      });
      child[name]?.on("error", () => undefined);
    }
    child.once("exit", (code: number | null, signal: NodeJS.Signals | null) => {
      this.#ended = { code, signal };
      if (this.#isKilled) this.#tell();
    });
    child.once("close", () => this.#tell());
  }

  /**
   * Once: after all of its output, or immediately if it was killed, because something that it
   * started may keep its output open for ever.
   */
  #tell(): void {
    if (this.#ended === null || this.#isTold) return;
    this.#isTold = true;
    const exit = jsonFrame(FRAME.exit, this.#channel, this.#ended);
    const tell = (): void => {
      this.#send(exit);
      this.#onEnd();
    };
    if (this.#isKilled || !this.#sandbox.watchesDisk) return tell();
    // As measuredAtEnd does if the agent itself sees the directory.
    void holdsMore(this.#sandbox.home, this.#limits.disk_bytes).then((isTooMuch) => {
      if (isTooMuch) this.#send(frame(FRAME.limit, 0, Buffer.from("disk")));
      tell();
    });
  }

  /** `bytes` must be copied: frames are read into buffers that are used again. */
  write(bytes: Buffer): void {
    if (this.#child === null) {
      this.#early.push(() => this.write(bytes));
      return;
    }
    // If it reads no more, the rest is dropped: its exit says what became of it.
    const taken = (): void => this.#send(countFrame(FRAME.stdinTaken, this.#channel, bytes.length));
    const { stdin } = this.#child;
    if (stdin === null || stdin.destroyed || stdin.writableEnded) taken();
    else stdin.write(bytes, taken);
  }

  end(): void {
    if (this.#child === null) this.#early.push(() => this.end());
    else this.#child.stdin?.end();
  }

  kill(signal: NodeJS.Signals): void {
    if (this.#child === null) {
      this.#early.push(() => this.kill(signal));
      return;
    }
    this.#isKilled = true;
    const { pid, stdin } = this.#child;
    if (pid === undefined) return void stdin?.destroy();
    try {
      // Including processes that it started itself.
      process.kill(-pid, signal);
    } catch (error) {
      if (errorCode(error) !== "ESRCH") throw error;
    }
    // It ended before, and something else has its output.
    this.#tell();
  }

  taken(name: "stdout" | "stderr", bytes: number): void {
    this.#unread[name] -= bytes;
    if (this.#unread[name] < WINDOW) this.#child?.[name]?.resume();
  }
}
