import { createInterface } from "node:readline/promises";
import { UserError } from "../../errors/user-error.ts";

/** Whether there is a person to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/**
 * Asks for a line. Enter alone accepts the proposal.
 * @throws UserError if the input ends, and the signal's reason
 */
export async function ask(question: string, proposal: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const shown = proposal === "" ? "" : ` [${proposal}]`;
    const ended = new Promise<never>((_resolve, reject) =>
      lines.once("close", () => reject(new UserError("usage", "the terminal's input ended"))),
    );
    const answer = (await Promise.race([lines.question(`${question}${shown} `, { signal }), ended])).trim();
    return answer === "" ? proposal : answer;
  } finally {
    lines.close();
  }
}

export interface Asked {
  readonly proposal: string;
  /** The fault of an answer; null if there is none. */
  readonly problem: (answer: string) => string | null;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Asks again until the answer can be one.
 * @throws the signal's reason
 */
export async function askUntil(question: string, { proposal, problem, say, signal }: Asked): Promise<string> {
  for (;;) {
    const answer = await ask(question, proposal, signal);
    const wrong = problem(answer);
    if (wrong === null) return answer;
    say(wrong);
  }
}

/**
 * Asks for yes or no, and says that nothing was changed after a no.
 * @throws UserError if nobody can be asked and `--yes` was not given
 */
export async function confirm(
  question: string,
  { yes, signal }: { readonly yes: boolean; readonly signal: AbortSignal },
): Promise<boolean> {
  if (yes) return true;
  if (!canAsk())
    throw new UserError("usage", `${question} There is no terminal to ask on: to go ahead, give --yes.`);
  const agreed = /^y(es)?$/i.test(await ask(`${question} (y/n)`, "n", signal));
  if (!agreed) process.stderr.write("Nothing was changed.\n");
  return agreed;
}
