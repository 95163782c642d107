import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { type Child, endedWith, startChild } from "../../processes/child.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import { ownProgram } from "../../sandboxes/bounds/own-program.ts";
import type { Place } from "../../sandboxes/place.ts";
import type { Request, Response } from "./protocol.ts";
import { RestoreRefused } from "../engine.ts";
import { SQLITE_COMMAND } from "./sqlite-command.ts";

/**
 * Signals that end a program because of its input, for example because of the memory that a file
 * makes it use. Other signals come from outside.
 */
const CRASHES: ReadonlySet<string> = new Set([
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGILL",
  "SIGSEGV",
  "SIGSYS",
  "SIGTRAP",
]);

/** A process that opens SQLite databases for us; see child.ts. */
export class SqliteProcess {
  readonly #signal: AbortSignal;
  readonly #place: Place | null;
  /** Ends when the process can take the next request. */
  #free: Promise<unknown> = Promise.resolve();
  #running: { readonly child: Child; readonly lines: Interface } | null = null;

  /** Runs in a place if that contains our program, or else as this user. */
  constructor(signal: AbortSignal, place: Place | null = null) {
    this.#signal = signal;
    this.#place = place;
  }

  /**
   * Null if no answer came in time. Then the process is killed, and the next request gets a new
   * one. An answer names no request, so each request waits for those before it; its time begins
   * afterwards.
   */
  request(request: Request, timeout_s?: number): Promise<Response | null> {
    const answer = this.#free.then(() => this.#ask(request, timeout_s));
    this.#free = answer.catch(() => undefined);
    return answer;
  }

  async #ask(request: Request, timeout_s?: number): Promise<Response | null> {
    const { child, lines } = (this.#running ??= await this.#start());
    const waiting = new AbortController();
    const timer = timeout_s === undefined ? undefined : setTimeout(() => waiting.abort(), timeout_s * 1000);
    try {
      const line = once(lines, "line", { signal: waiting.signal }).then(([text]) => String(text));
      const end = child.exited.then((exit) => {
        if (exit.signal !== null && CRASHES.has(exit.signal))
          throw new RestoreRefused(`the process that opens the database crashed on it (${exit.signal})`);
        throw new RunError(
          "sandbox_failed",
          `the process that opens SQLite databases ended with ${endedWith(exit)}`,
        );
      });
      // Nobody waits for the one that comes second.
      for (const each of [line, end]) each.catch(() => undefined);
      child.stdin.write(`${JSON.stringify(request)}\n`);
      return JSON.parse(await Promise.race([line, end])) as Response;
    } catch (error) {
      stopIfAborted(this.#signal);
      if (!waiting.signal.aborted) throw error;
      await this.close();
      return null;
    } finally {
      clearTimeout(timer);
      waiting.abort();
    }
  }

  async close(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.child.stop();
  }

  async #start(): Promise<{ child: Child; lines: Interface }> {
    const [command = "", ...args] = this.#place?.self ?? ownProgram();
    const program = {
      command,
      args: [...args, SQLITE_COMMAND],
      signal: this.#signal,
      stopSignal: "SIGKILL",
    } as const;
    const child = await (this.#place === null ? startChild(program) : this.#place.start(program));
    return { child, lines: createInterface({ input: child.stdout }) };
  }
}
