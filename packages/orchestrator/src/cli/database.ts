import { Command } from "commander";
import { UserError } from "../platform/errors/user-error.ts";
import { consoleCommand, withExitCodes } from "./console-command.ts";
import { printOutcome } from "./outcome.ts";
import { readConfig } from "../platform/config/read-config.ts";
import { silentLogger } from "../platform/logging/logger.ts";
import { openDatabase } from "../platform/postgres/open-database.ts";
import { makeRoles } from "../platform/database/roles.ts";

/**
 * `attestore-server database`: runs only the embedded database until SIGTERM or Ctrl-C, so that it
 * can be dumped or filled while no service uses it. Prints a line when it accepts connections.
 */
export function databaseCommand(): Command {
  const command = withExitCodes(new Command("database"))
    .description("Run only the embedded database, to dump or load it, until stopped (SIGTERM, Ctrl-C)")
    .action(async () => {
      const stopped = new Promise<void>((resolve) => {
        for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => resolve());
      });
      const config = readConfig(process.env);
      const opened = await openDatabase({
        dataDirectory: config.data,
        binaries: config.postgres,
        user: config.postgresUser,
        role: "serve",
        log: silentLogger,
      });
      try {
        await makeRoles(opened.connection);
        process.stdout.write(`PostgreSQL is ready in ${opened.connection.host}\n`);
        await stopped;
      } finally {
        await opened.close();
      }
    });
  command.addCommand(upgradeCommand());
  return command;
}

/** `attestore-server database upgrade` */
function upgradeCommand(): Command {
  return consoleCommand("upgrade", "Move the embedded database to this PostgreSQL's major version")
    .requiredOption("--from <directory>", "directory of the old PostgreSQL, such as /usr/lib/postgresql/15")
    .action(async (options: { json?: boolean; from: string }) => {
      const config = readConfig(process.env);
      if (config.databaseUrl !== undefined)
        throw new UserError(
          "invalid_argument",
          "DATABASE_URL is set, so there is no embedded database: upgrade that PostgreSQL with its own tools.",
        );
      const { upgradeDatabase } = await import("../features/service-backup/upgrade-database.ts");
      const { versions } = await upgradeDatabase(config, options.from);
      printOutcome(
        {
          json: { from: versions?.from ?? null, to: versions?.to ?? null },
          result:
            versions === null
              ? "The interrupted upgrade is done."
              : `The database is one of PostgreSQL ${versions.to} now, no longer of ${versions.from}.`,
          talk: [
            "The old database is in postgres.old. Remove it when attestore-server doctor finds nothing.",
          ],
          next: "attestore-server serve",
        },
        options,
      );
    });
}
