import { createInterface } from "node:readline/promises";
import { UserError } from "../../errors/user-error.ts";

/** Whether there is a person to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/**
 * Asks for a line. Enter alone accepts the proposal.
 * @throws the signal's reason
 */
export async function ask(question: string, proposal: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const shown = proposal === "" ? "" : ` [${proposal}]`;
    const answer = (await lines.question(`${question}${shown} `, { signal })).trim();
    return answer === "" ? proposal : answer;
  } finally {
    lines.close();
  }
}

/**
 * Asks for yes or no.
 * @throws UserError if nobody can be asked and `--yes` was not given
 */
export async function confirm(
  question: string,
  { yes, signal }: { readonly yes: boolean; readonly signal: AbortSignal },
): Promise<boolean> {
  if (yes) return true;
  if (!canAsk())
    throw new UserError("usage", `${question} There is no terminal to ask on: to go ahead, give --yes.`);
  return /^y(es)?$/i.test(await ask(`${question} (y/n)`, "n", signal));
}
