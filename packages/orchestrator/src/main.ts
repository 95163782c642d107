#!/usr/bin/env node
import cluster from "node:cluster";
import { serverProgram } from "./cli/program.ts";
import { asDatabaseUnavailable } from "./platform/database/unavailable.ts";
import { fileTrouble } from "@attestore/host/file-trouble";
import { UserError } from "./platform/errors/user-error.ts";
import { WORKER_OPTION } from "./service/workers/protocol.ts";
import { WorkerNotStarted } from "./service/workers/worker-not-started.ts";

/**
 * Exit codes: 0 done, 1 refused or a defect of ours, 2 could not begin (settings, database, data
 * directory, a wrong call), 3 the key token refused the PIN: starting again would only have it lock
 * itself.
 */
const CANNOT_BEGIN = 2;
const PIN_REFUSED = 3;

const args = process.argv.slice(2);
const program = serverProgram(args).exitOverride(({ exitCode }) =>
  process.exit(exitCode === 0 ? 0 : CANNOT_BEGIN),
);

// A reader of the output may stop reading (`| head`).
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

try {
  await program.parseAsync(args, { from: "user" });
} catch (error) {
  // It has said why itself.
  if (error instanceof WorkerNotStarted && error.end.code !== null) process.exit(error.end.code);
  const expected = error instanceof UserError ? error : asDatabaseUnavailable(error);
  const message = expected?.message ?? fileTrouble(error);
  if (message === null) throw error;
  process.stderr.write(`attestore-server: ${message}\n`);
  process.exitCode =
    expected instanceof UserError && expected.code === "key_token_pin" ? PIN_REFUSED : CANNOT_BEGIN;
}
// Its channel to the primary would keep it alive.
if (cluster.isWorker && args.includes(WORKER_OPTION)) process.exit();
