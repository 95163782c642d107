import { createInterface } from "node:readline";
import { Writable } from "node:stream";

/** Asks for a line and hides the typed text. Null without a terminal. */
export async function askSecret(question: string, signal: AbortSignal): Promise<string | null> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  // Print the question only after the terminal has stopped echoing: somebody may paste at once.
  process.stderr.write(question);
  try {
    return await new Promise<string>((resolve, reject) => {
      // In raw mode Ctrl-C is a key, not a signal.
      lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
      lines.on("close", () => resolve(""));
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      lines.question("", resolve);
    });
  } finally {
    lines.close();
    process.stderr.write("\n");
  }
}
