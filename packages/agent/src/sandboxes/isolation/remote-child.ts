import { PassThrough, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { Child, Exit } from "../../processes/child.ts";
import {
  countFrame,
  type Ended,
  frame,
  FRAME,
  type Frame,
  type FrameType,
  jsonFrame,
  MAX_PAYLOAD,
  type StartRequest,
  WINDOW,
} from "./frames.ts";

const STDERR_BYTES = 16 * 1024;
const GRACE_MS = 5_000;

export interface RemoteRequest extends StartRequest {
  readonly signal: AbortSignal;
  readonly stopSignal: NodeJS.Signals;
}

/** A program in a sandbox, in the form of a child process. */
export class RemoteChild {
  /** Resolves once it runs; with an errno's name if it could not be started. */
  readonly begun: Promise<string | null>;
  readonly #channel: number;
  readonly #send: (bytes: Buffer) => void;
  readonly #begin: (code: string | null) => void;
  readonly #settle: (exit: Exit) => void;
  readonly #stdin: Writable;
  readonly #direct: Writable | null;
  readonly #stdout = new PassThrough();
  readonly #stderr = new PassThrough();
  readonly #exited: Promise<Exit>;
  readonly #request: RemoteRequest;
  readonly #waiting: { bytes: Buffer; done: (error?: Error | null) => void }[] = [];
  #room = WINDOW;
  readonly #decoder = new StringDecoder("utf8");
  #errors = "";
  #isOver = false;
  #grace: NodeJS.Timeout | undefined;

  /** `direct` is its stdin, if that does not come in frames; nothing else uses it. */
  constructor(
    channel: number,
    request: RemoteRequest,
    send: (bytes: Buffer) => void,
    direct: Writable | null = null,
  ) {
    this.#channel = channel;
    this.#send = send;
    this.#request = request;
    const begun = Promise.withResolvers<string | null>();
    this.begun = begun.promise;
    this.#begin = begun.resolve;
    const exited = Promise.withResolvers<Exit>();
    this.#exited = exited.promise;
    this.#settle = exited.resolve;
    this.#direct = direct;
    this.#stdin =
      direct ??
      new Writable({
        write: (bytes: Buffer, _, done) => {
          this.#waiting.push({ bytes, done });
          this.#flush();
        },
        final: (done) => {
          if (!this.#isOver) this.#send(frame(FRAME.stdinEnd, this.#channel));
          done();
        },
      });
    // If it ends before it has read everything, its exit says so.
    this.#stdin.on("error", () => undefined);
    this.#stdout.on("error", () => undefined);
    this.#stderr.setEncoding("utf8");
    const { command, args, env, cwd, socket, isDirect } = request;
    this.#send(jsonFrame(FRAME.start, channel, { command, args, env, cwd, socket, isDirect }));
    request.signal.addEventListener("abort", this.#terminate, { once: true });
    if (request.signal.aborted) this.#terminate();
  }

  get child(): Child {
    return {
      // It has no pid that means anything outside.
      pid: 0,
      stdin: this.#stdin,
      stdout: this.#stdout,
      stderr: this.#stderr,
      exited: this.#exited,
      stop: () => {
        this.#terminate();
        return this.#exited;
      },
    };
  }

  take({ type, payload }: Frame): void {
    if (type === FRAME.started) {
      this.#begin(null);
      this.#flowSoon();
    } else if (type === FRAME.notStarted) {
      this.#begin(payload.toString("latin1"));
      this.#end({ code: null, signal: "SIGKILL" });
    } else if (type === FRAME.stdout) this.#hand(this.#stdout, FRAME.outputTaken, payload);
    else if (type === FRAME.stderr) {
      this.#errors = (this.#errors + this.#decoder.write(payload)).slice(0, STDERR_BYTES);
      this.#hand(this.#stderr, FRAME.errorsTaken, payload);
    } else if (type === FRAME.stdinTaken) {
      this.#room += payload.readUInt32BE();
      this.#flush();
    } else if (type === FRAME.exit) this.#end(JSON.parse(payload.toString()) as Ended);
  }

  /** The sandbox is gone, and the program with it. */
  lose(): void {
    this.#begin("EPIPE");
    this.#end({ code: null, signal: "SIGKILL" });
  }

  /**
   * Lets its starter listen first: its first output may have come in the same piece as the message
   * that it started.
   */
  #flowSoon(): void {
    setImmediate(() => this.#stderr.resume());
  }

  #hand(stream: PassThrough, taken: FrameType, payload: Buffer): void {
    const { length } = payload;
    const tell = (): void => {
      if (!this.#isOver) this.#send(countFrame(taken, this.#channel, length));
    };
    if (stream.destroyed || stream.writableEnded) tell();
    else stream.write(Buffer.from(payload), tell);
  }

  #flush(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (!this.#isOver) {
        if (this.#room === 0) return;
        const piece = next.bytes.subarray(0, Math.min(MAX_PAYLOAD, this.#room));
        this.#room -= piece.length;
        this.#send(frame(FRAME.stdin, this.#channel, piece));
        next.bytes = next.bytes.subarray(piece.length);
        if (next.bytes.length > 0) continue;
      }
      // First: a caller that learns that it is done may write the next piece at once, and so come
      // back here.
      this.#waiting.shift();
      next.done(this.#isOver ? brokenPipe() : null);
    }
  }

  readonly #terminate = (): void => {
    if (this.#isOver || this.#grace !== undefined) return;
    this.#send(frame(FRAME.kill, this.#channel, Buffer.from(this.#request.stopSignal)));
    this.#grace = setTimeout(() => {
      this.#send(frame(FRAME.kill, this.#channel, Buffer.from("SIGKILL")));
    }, GRACE_MS);
  };

  #end({ code, signal }: Ended): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#grace);
    this.#request.signal.removeEventListener("abort", this.#terminate);
    this.#flush();
    // Processes that outlive it have the other end too, so nothing else tells a waiting writer that
    // nobody reads.
    this.#direct?.destroy();
    this.#stdout.end();
    this.#stderr.end();
    this.#flowSoon();
    const settle = (): void => this.#settle({ code, signal, stderr: this.#errors });
    if (this.#stderr.readableEnded) settle();
    else this.#stderr.once("end", settle);
  }
}

function brokenPipe(): Error {
  return Object.assign(new Error("the program has stopped reading"), { code: "EPIPE" });
}

/** Whether an errno's name means that there is no such program. */
export function isMissing(code: string): boolean {
  return code === "ENOENT" || code === "EACCES";
}
