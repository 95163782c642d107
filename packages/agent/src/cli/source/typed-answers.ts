import { askUntil, canAsk } from "../terminal/ask.ts";
import { askSecret } from "../terminal/ask-secret.ts";
import type { Call } from "../invocation/command.ts";

/**
 * A person's answers about a source, by the flag that each replaces. A wrong answer is asked for
 * again; Enter alone then keeps it.
 */
export class TypedAnswers {
  readonly #call: Pick<Call, "signal" | "terminal">;
  readonly #typed = new Map<string, string>();

  constructor(call: Pick<Call, "signal" | "terminal">) {
    this.#call = call;
  }

  /** Whether there is anything to ask for again. */
  get isAny(): boolean {
    return this.#typed.size > 0;
  }

  /** Null without a terminal. */
  async ask(flag: string, question: string): Promise<string | null> {
    if (!canAsk()) return null;
    const typed = await askUntil(question, {
      proposal: this.#typed.get(flag) ?? "",
      problem: (answer) => (answer === "" ? "nothing was typed" : null),
      say: this.#call.terminal.say,
      signal: this.#call.signal,
    });
    this.#typed.set(flag, typed);
    return typed;
  }

  /** Hides the typed text. Null without a terminal. */
  async askSecret(flag: string, question: string): Promise<string | null> {
    const before = this.#typed.get(flag);
    const hint = before === undefined ? "" : " (Enter: the same again)";
    const asked = await askSecret(`${question}${hint} `, this.#call.signal);
    if (asked === null) return null;
    const typed = asked.trim() === "" ? (before ?? "") : asked.trim();
    if (typed !== "") this.#typed.set(flag, typed);
    return typed;
  }
}
