#!/usr/bin/env node
import { Command } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { agentCommand } from "./cli/agent.ts";
import { authKeyCommand } from "./cli/auth-key.ts";
import { backupCommand } from "./cli/backup.ts";
import { bootstrapCommand } from "./cli/bootstrap.ts";
import { commandCommand } from "./cli/command.ts";
import { configCommand } from "./cli/config.ts";
import { doctorCommand } from "./cli/doctor.ts";
import { fsckCommand } from "./cli/fsck.ts";
import { keysCommand } from "./cli/keys.ts";
import { migrateCommand } from "./cli/migrate.ts";
import { databaseCommand } from "./cli/database.ts";
import { objectsCommand } from "./cli/objects.ts";
import { operatorCommand } from "./cli/operator.ts";
import { orgCommand } from "./cli/org.ts";
import { passkeyCommand } from "./cli/passkey.ts";
import { retentionCommand } from "./cli/retention.ts";
import { serveCommand } from "./cli/serve.ts";
import { serviceCommand } from "./cli/service.ts";
import { trustCommand } from "./cli/trust.ts";
import { userCommand } from "./cli/user.ts";
import { asDatabaseUnavailable } from "./platform/database/unavailable.ts";
import { UserError } from "./platform/errors/user-error.ts";

/**
 * Exit codes: 0 done, 1 refused or a defect of ours, 2 could not begin (settings, database, data
 * directory, a wrong call), 3 the key token refused the PIN: starting again would only have it lock
 * itself.
 */
const CANNOT_BEGIN = 2;
const PIN_REFUSED = 3;

const program = new Command("attestore-server")
  .description("The orchestrator of Attestore, which proves that backups restore.")
  .version(packageJson.version)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : CANNOT_BEGIN));
for (const command of [
  serveCommand(),
  migrateCommand(),
  fsckCommand(),
  configCommand(),
  doctorCommand(),
  orgCommand(),
  userCommand(),
  authKeyCommand(),
  agentCommand(),
  bootstrapCommand(),
  commandCommand(),
  backupCommand(),
  retentionCommand(),
  operatorCommand(),
  passkeyCommand(),
  objectsCommand(),
  keysCommand(),
  trustCommand(),
  databaseCommand(),
  serviceCommand(),
]) {
  program.addCommand(command);
}

// Whoever reads the output may stop reading (`| head`).
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

try {
  await program.parseAsync();
} catch (error) {
  const expected = error instanceof UserError ? error : asDatabaseUnavailable(error);
  if (expected === null) throw error;
  process.stderr.write(`attestore-server: ${expected.message}\n`);
  process.exitCode =
    expected instanceof UserError && expected.code === "key_token_pin" ? PIN_REFUSED : CANNOT_BEGIN;
}
