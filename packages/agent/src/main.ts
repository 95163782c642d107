#!/usr/bin/env node

// Until a command has come to its end: a program that waits for what never comes ends by itself, and Node calls that 0.
process.exitCode = 2;

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
void import("./commands/program.ts")
  .then(({ runProgram }) =>
    runProgram(process.argv.slice(2), {
      env: process.env,
      cwd: process.cwd(),
      signal: stop.signal,
      stoppedBy: () => stoppedBy,
    }),
  )
  .then((code) => (process.exitCode = code));
