/**
 * Where the single executable begins. It has no script files that a child process could run, so it is its own child:
 * called by an internal name it does that work and nothing else.
 */
import { SQLITE_COMMAND } from "./engines/sqlite/sqlite-command.ts";

if (process.argv[2] === SQLITE_COMMAND)
  void import("./engines/sqlite/child.ts").then(({ serveSqlite }) =>
    serveSqlite(process.stdin, process.stdout),
  );
else void import("./main.ts");
