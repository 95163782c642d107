/**
 * Prints the demo as numbered steps: a line while a step runs on a terminal, and one when it held
 * or did not.
 */

const terminal = process.stdout.isTTY;
const colour = terminal && !process.env["NO_COLOR"];
const paint = (code: number, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);

/** A step of the demo that did not hold; its message is for the person who watches. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";
}

/** Fails the running step unless the condition holds. */
export function expectThat(holds: boolean, message: string): asserts holds {
  if (!holds) throw new StepFailed(message);
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function heading(text: string): void {
  say(`\n${paint(1, text)}`);
}

/**
 * Runs one step and prints its title, its time and what it answers, one sentence for the person who
 * watches.
 */
export async function step(title: string, work: () => Promise<string | undefined>): Promise<void> {
  const started = performance.now();
  if (terminal) process.stdout.write(`  … ${title}`);
  const clear = terminal ? "\r\u001b[K" : "";
  try {
    const detail = await work();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    say(`${clear}  ${paint(32, "✓")} ${title}${detail ? `: ${detail}` : ""} ${paint(2, `(${seconds} s)`)}`);
  } catch (error) {
    say(`${clear}  ${paint(31, "✗")} ${title}`);
    throw error;
  }
}
