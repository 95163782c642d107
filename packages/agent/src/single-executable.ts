/**
 * Where the single executable begins. It has no script files that a child process could run, so it
 * is its own child: called by an internal name it does that work and nothing else.
 */
import { SQLITE_COMMAND } from "./engines/sqlite/sqlite-command.ts";
import { SERVE_COMMAND, TREE_COMMAND } from "./sandboxes/isolation/commands.ts";
import { SIGNER_COMMAND } from "./signer/command.ts";

if (process.argv[2] === SQLITE_COMMAND)
  void import("./engines/sqlite/child.ts").then(({ serveSqlite }) =>
    serveSqlite(process.stdin, process.stdout),
  );
else if (process.argv[2] === TREE_COMMAND)
  void import("./engines/files/tree/tree-child.ts").then(({ serveTree }) =>
    serveTree(process.stdin, process.stdout),
  );
else if (process.argv[2] === SERVE_COMMAND)
  void import("./sandboxes/isolation/sandbox-main.ts").then(({ runSandbox }) =>
    runSandbox(process.argv.slice(3)),
  );
else if (process.argv[2] === SIGNER_COMMAND)
  void import("./signer/signer-main.ts").then(({ runSigner }) => runSigner());
else void import("./main.ts");
