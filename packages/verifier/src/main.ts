import { plainLine } from "@attestore/proof/plain-text";
import { run } from "./run.ts";

// Until there is an answer: a program that waits for what never comes ends by itself, and Node calls that 0.
process.exitCode = 2;

/** 1 means that a receipt is false, which is what Node ends with too when a program breaks. */
function cannotTell(error: unknown): void {
  process.stderr.write(
    `attestore-verify: ${plainLine(error instanceof Error ? error.message : String(error))}\n`,
  );
  process.exit(2);
}

process.on("uncaughtException", cannotTell);
// Whoever reads the report may stop reading (`| head`): that changes nothing about the answer.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") cannotTell(error);
});

// No `await`: a single executable's program is a CommonJS module.
void run(process.argv.slice(2)).then((code) => (process.exitCode = code), cannotTell);
