import { AnsweringChild } from "../../processes/answering-child.ts";
import { endedWith, type Exit, startChild } from "../../processes/child.ts";
import { RunError } from "../../errors/run-error.ts";
import { ownProgram } from "../../processes/own-program.ts";
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
  readonly #child: AnsweringChild<Request, Response>;
  /** Ends when the process can take the next request. */
  #free: Promise<unknown> = Promise.resolve();

  /** Runs in a place if that contains our program, or else as this user. */
  constructor(signal: AbortSignal, place: Place | null = null) {
    const [command = "", ...args] = place?.self ?? ownProgram();
    const program = { command, args: [...args, SQLITE_COMMAND], signal, stopSignal: "SIGKILL" } as const;
    this.#child = new AnsweringChild({
      start: () => (place === null ? startChild(program) : place.start(program)),
      whyEnded,
      signal,
    });
  }

  /**
   * Null if no answer came in time. Then the process is killed, and the next request gets a new
   * one. Each request waits for those before it; its time begins afterwards.
   */
  request(request: Request, timeout_s?: number): Promise<Response | null> {
    const answer = this.#free.then(() => this.#child.ask(request, timeout_s));
    this.#free = answer.catch(() => undefined);
    return answer;
  }

  close(): Promise<void> {
    return this.#child.close();
  }
}

function whyEnded(exit: Exit): Error {
  return exit.signal !== null && CRASHES.has(exit.signal)
    ? new RestoreRefused(`the process that opens the database crashed on it (${exit.signal})`)
    : new RunError("sandbox_failed", `the process that opens SQLite databases ended with ${endedWith(exit)}`);
}
