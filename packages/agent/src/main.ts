#!/usr/bin/env node
import { plainMessage } from "@attestore/proof/plain-text";

// Until a command has come to its end: a program that waits for what never comes ends by itself,
// and Node calls that 0.
process.exitCode = 2;

/**
 * Node ends with 1 when a program breaks, which here means that it ran and that the outcome is bad.
 */
function giveUp(error: unknown): void {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${plainMessage(`attestore: ${what}`)}\n`);
  process.exit(2);
}

process.on("uncaughtException", giveUp);
// A reader may stop reading (`| head`): this changes nothing about the command's work. There is
// nobody left to be told of a broken stderr.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") giveUp(`the answer cannot be written: ${error.message}`);
});
process.stderr.on("error", () => undefined);

const stop = new AbortController();
let stoppedBy: NodeJS.Signals | null = null;
for (const name of ["SIGINT", "SIGTERM"] as const) {
  process.on(name, () => {
    // A second one means now; locks and partial files are made for that.
    if (stoppedBy !== null) process.exit(130);
    stoppedBy = name;
    stop.abort();
  });
}

// No `await`: a single executable's program is a CommonJS module.
void import("./cli/program.ts")
  .then(({ runProgram }) =>
    runProgram(process.argv.slice(2), {
      env: process.env,
      cwd: process.cwd(),
      signal: stop.signal,
      stoppedBy: () => stoppedBy,
    }),
  )
  .then((code) => {
    process.exitCode = code;
    // A reader that neither reads nor ends would keep this program for ever.
    if (stoppedBy !== null && process.stdout.writableLength > 0) process.exit(code);
  });
