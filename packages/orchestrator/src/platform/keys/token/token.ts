import { type ChildProcess, fork } from "node:child_process";
import { KeyTokenError } from "./key-token-error.ts";
import type {
  AnswerMessage,
  FoundKey,
  KeyKind,
  PrivateMaterial,
  TokenAnswer,
  TokenCall,
  TokenFailure,
  TokenLogin,
} from "./token-calls.ts";

const ANSWER_WITHIN_MS = 5000;
/** Extra time for a new process: Node, the module, the login. */
const START_WITHIN_MS = 15_000;

export interface TokenOptions extends TokenLogin {
  /** How long one call may take; 5 s by default. */
  answerWithinMs?: number;
}

interface Waiting {
  call: TokenCall;
  isRetry: boolean;
  resolve: (answer: TokenAnswer) => void;
  reject: (error: KeyTokenError) => void;
}

/**
 * Keys behind a PKCS#11 module, in a process of its own that starts with the first call. It gets
 * one call at a time. If a call gets no answer in time, the process is ended, and waiting calls are
 * refused with KeyTokenError; the next call starts another process. Calls that only use a key are
 * tried once more if the connection to the token was lost. A PIN that the token refused is never
 * tried again.
 */
export class Token {
  readonly #login: TokenLogin;
  readonly #answerWithinMs: number;
  readonly #waiting: Waiting[] = [];
  #process: ChildProcess | null = null;
  #running: Waiting | null = null;
  #late: NodeJS.Timeout | undefined;
  #calls = 0;
  #pinRefused: TokenFailure | null = null;
  #closed = false;

  constructor({ module, pin, answerWithinMs = ANSWER_WITHIN_MS }: TokenOptions) {
    this.#login = { module, pin };
    this.#answerWithinMs = answerWithinMs;
  }

  /** The process with the module; undefined while there is none. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async find(uri: string, kind: KeyKind): Promise<FoundKey> {
    return (await this.#ask({ is: "find", uri, kind })) as FoundKey;
  }

  async sign(uri: string, kind: "ed25519" | "p256", data: Uint8Array): Promise<Uint8Array> {
    return (await this.#ask({ is: "sign", uri, kind, data })) as Uint8Array;
  }

  /** AES-GCM. Decrypting anything else rejects with the reason `data`. */
  async cipher(
    is: "encrypt" | "decrypt",
    uri: string,
    data: Uint8Array,
    { iv, aad }: { iv: Uint8Array; aad: Uint8Array },
  ): Promise<Uint8Array> {
    return (await this.#ask({ is, uri, iv, aad, data })) as Uint8Array;
  }

  async generate(uri: string, kind: KeyKind): Promise<void> {
    await this.#ask({ is: "generate", uri, kind });
  }

  async import(uri: string, kind: "ed25519" | "p256", material: PrivateMaterial): Promise<void> {
    await this.#ask({ is: "import", uri, kind, material });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#fail({ reason: "lost", message: "it was let go" });
  }

  #ask(call: TokenCall): Promise<TokenAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new KeyTokenError({ reason: "lost", message: "it was let go" }));
      if (this.#pinRefused !== null) return reject(new KeyTokenError(this.#pinRefused));
      this.#waiting.push({ call, isRetry: false, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#running !== null) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#running = next;
    const within = this.#answerWithinMs + (this.#process === null ? START_WITHIN_MS : 0);
    this.#late = setTimeout(
      () =>
        this.#fail({ reason: "silent", message: `${next.call.uri}: no answer within ${within / 1000} s` }),
      within,
    );
    this.#process ??= this.#start();
    // A process that is gone reports that with its exit.
    this.#process.send({ id: ++this.#calls, call: next.call }, () => undefined);
  }

  #start(): ChildProcess {
    const child = fork(new URL("./token-process.ts", import.meta.url), {
      serialization: "advanced",
      execArgv: [],
      // Modules find their settings in variables of their own; ours are secrets that they don't
      // need.
      env: Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !/^(ATTESTORE_|DATABASE_URL$|NODE_)/.test(name)),
      ),
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.on("message", (message: AnswerMessage) => this.#take(child, message));
    const gone = (why: string): void => {
      if (this.#process === child) this.#lose({ reason: "lost", message: `its process ended (${why})` });
    };
    child.on("error", (error) => gone(error.message));
    child.on("exit", (code, signal) => gone(signal ?? String(code)));
    child.send(this.#login, () => undefined);
    return child;
  }

  #take(child: ChildProcess, message: AnswerMessage): void {
    const running = this.#running;
    if (child !== this.#process || message.id !== this.#calls || running === null) return;
    if ("failure" in message) {
      const { failure } = message;
      if (failure.reason === "lost") return this.#lose(failure);
      if (failure.reason === "pin") {
        this.#pinRefused = failure;
        return this.#fail(failure);
      }
      this.#end();
      running.reject(new KeyTokenError(failure));
    } else {
      this.#end();
      running.resolve(message.answer);
    }
    this.#next();
  }

  /** Ends the process. A new one repeats the running call if that changes nothing. */
  #lose(failure: TokenFailure): void {
    const running = this.#running;
    this.#stop();
    if (running === null) return;
    if (running.isRetry || running.call.is === "generate" || running.call.is === "import") {
      running.reject(new KeyTokenError(failure));
    } else this.#waiting.unshift({ ...running, isRetry: true });
    this.#next();
  }

  #fail(failure: TokenFailure): void {
    const all = [...(this.#running === null ? [] : [this.#running]), ...this.#waiting.splice(0)];
    this.#stop();
    for (const { reject } of all) reject(new KeyTokenError(failure));
  }

  #stop(): void {
    this.#end();
    const child = this.#process;
    this.#process = null;
    child?.kill("SIGKILL");
  }

  #end(): void {
    clearTimeout(this.#late);
    this.#running = null;
  }
}
