import { plainLine } from "@attestore/proof/plain-text";
import { run } from "./run.ts";

// The exit code until there is an answer. A program that waits forever on nothing ends by itself,
// and Node would exit with 0.
process.exitCode = 2;

/**
 * 1 means that a receipt is false, but it is also Node's exit code for a crash. So a crash exits
 * with another code.
 */
function cannotTell(error: unknown): void {
  process.stderr.write(
    `attestore-verify: ${plainLine(error instanceof Error ? error.message : String(error))}\n`,
  );
  process.exit(2);
}

process.on("uncaughtException", cannotTell);
// The report's reader may stop early (`| head`). That does not change the answer.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") cannotTell(error);
});

// No `await`: a single executable runs a CommonJS module.
void run(process.argv.slice(2)).then((code) => (process.exitCode = code), cannotTell);
