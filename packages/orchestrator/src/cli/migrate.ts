import type { Command } from "commander";
import { readConfig } from "../platform/config/read-config.ts";
import { migrate, readMigrations } from "../platform/database/migrate.ts";
import { openConfiguredDatabase } from "../platform/postgres/open-database.ts";
import { type CommonOptions, consoleCommand, logOf } from "./console-command.ts";
import { printOutcome } from "./outcome.ts";

/**
 * `attestore-server migrate`: what `serve` does first by itself, for those who want to do it before
 * they replace the program.
 */
export function migrateCommand(): Command {
  return consoleCommand("migrate", "Migrate the database to this version of the program").action(
    async (options: CommonOptions) => {
      const config = readConfig(process.env);
      // Shows which locks it waits for, and errors of the database.
      const log = logOf(options, "warn");
      const opened = await openConfiguredDatabase(config, { role: "command", log });
      try {
        const known = await readMigrations();
        const applied = await migrate(opened.connection, log, known, opened);
        const names = known.filter(({ version }) => applied.includes(version)).map(({ name }) => name);
        const version = known.at(-1)?.version ?? 0;
        printOutcome(
          {
            json: { version, applied: names },
            result: names.join("\n"),
            talk: [
              applied.length === 0
                ? `The database is already at version ${version}.`
                : `The database is now at version ${version}:`,
            ],
          },
          options,
        );
      } finally {
        await opened.close();
      }
    },
  );
}
