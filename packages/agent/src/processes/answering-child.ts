import { StringDecoder } from "node:string_decoder";
import { RunError, stopIfAborted } from "../errors/run-error.ts";
import type { Child, Exit } from "./child.ts";

/** In characters: far more than the largest database takes, and less than a text can hold. */
const MAX_ANSWER = 256 << 20;

export interface AnsweringChildOptions {
  readonly start: () => Promise<Child>;
  /** Why there is no answer if it ended by itself. */
  readonly whyEnded: (exit: Exit) => Error;
  readonly signal: AbortSignal;
  readonly maxAnswer?: number;
}

/**
 * A child that answers each line of JSON with one. It is started with the first request. It may
 * work on hostile data, so an answer is read only up to a limit.
 */
export class AnsweringChild<Request, Answer> {
  readonly #options: AnsweringChildOptions;
  #running: { readonly child: Child; readonly lines: AsyncGenerator<string, void> } | null = null;

  constructor(options: AnsweringChildOptions) {
    this.#options = options;
  }

  /**
   * Null if no answer came in time. Then the child is killed, and the next request gets a new one.
   * An answer names no request: the caller waits for one before the next.
   */
  async ask(request: Request, timeout_s?: number): Promise<Answer | null> {
    const { signal, whyEnded } = this.#options;
    const { child, lines } = (this.#running ??= await this.#start());
    const late = Promise.withResolvers<null>();
    const timer = timeout_s === undefined ? undefined : setTimeout(late.resolve, timeout_s * 1000, null);
    try {
      const ended = child.exited.then((exit): never => {
        throw whyEnded(exit);
      });
      const answer = lines.next().then(({ value }) => value ?? ended);
      // Nobody waits for the one that comes second.
      for (const each of [answer, ended]) each.catch(() => undefined);
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const line = await Promise.race([answer, ended, late.promise]);
      if (line !== null) return JSON.parse(line) as Answer;
      stopIfAborted(signal);
      await this.close();
      return null;
    } catch (error) {
      stopIfAborted(signal);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.child.stop();
  }

  async #start() {
    const child = await this.#options.start();
    return { child, lines: linesOf(child, this.#options.maxAnswer ?? MAX_ANSWER) };
  }
}

async function* linesOf(child: Child, maxLength: number): AsyncGenerator<string, void> {
  const decoder = new StringDecoder("utf8");
  let line = "";
  for await (const piece of child.stdout as AsyncIterable<Buffer>) {
    const [first = "", ...others] = decoder.write(piece).split("\n");
    line += first;
    for (const other of others) {
      yield line;
      line = other;
    }
    if (line.length <= maxLength) continue;
    void child.stop();
    throw new RunError("sandbox_failed", "a process in the sandbox gave an answer without end");
  }
}
