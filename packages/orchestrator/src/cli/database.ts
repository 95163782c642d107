import { Command } from "commander";
import { readConfig } from "../platform/config/read-config.ts";
import { silentLogger } from "../platform/logging/logger.ts";
import { openDatabase } from "../platform/postgres/open-database.ts";
import { makeRoles } from "../platform/database/roles.ts";

/**
 * `attestore-server database`: runs only the embedded database until SIGTERM or Ctrl-C, so that it
 * can be dumped or filled while no service uses it. Prints a line when it accepts connections.
 */
export function databaseCommand(): Command {
  return new Command("database")
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
}
