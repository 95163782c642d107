import { run } from "./run.ts";

// Whoever reads the report may stop reading (`| head`): that changes nothing about the answer.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

process.exitCode = await run(process.argv.slice(2));
