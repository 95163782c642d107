/**
 * Ends this process, as SIGTERM would, when the one that started it is gone: npm hands SIGTERM on,
 * and cannot hand on SIGKILL.
 *
 *   PARENT=$PPID exec node --import ./tools/run/end-with-parent.ts PROGRAM     # in a script of package.json
 *
 * A shell's $PPID stays what it was when the shell began, so a parent that ended before we began is
 * seen too.
 */
const LOOK_MS = 250;

const parent = Number(process.env["PARENT"] ?? process.ppid);
delete process.env["PARENT"];

const looking = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(looking);
  process.kill(process.pid, "SIGTERM");
}, LOOK_MS);
looking.unref();
