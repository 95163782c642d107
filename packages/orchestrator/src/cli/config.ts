import type { Command } from "commander";
import { CONFIG_FILE, readSettings, type ReadSetting } from "../platform/config/read-config.ts";
import { SETTINGS, type Setting } from "../platform/config/settings.ts";
import { type CommonOptions, consoleCommand } from "./console-command.ts";
import { listing, printOutcome } from "./outcome.ts";

/**
 * `attestore-server config`: every setting, its value, and where that comes from. For secrets it
 * only says whether they are set.
 */
export function configCommand(): Command {
  return consoleCommand("config", "Show every setting with its value and where the value comes from").action(
    (options: CommonOptions) => {
      const { sources } = readSettings(process.env);
      const file = process.env[CONFIG_FILE] ?? null;
      const rows = Object.entries<Setting<unknown>>(SETTINGS).map(([name, setting]) => ({
        setting,
        read: sources[name as keyof typeof sources],
      }));
      printOutcome(
        {
          json: {
            file,
            settings: rows.map(({ setting, read }) => ({
              name: setting.variable,
              value: read.text ?? null,
              source: read.source,
              ...(read.line === undefined ? {} : { line: read.line }),
              secret: setting.secret === true,
              description: setting.description,
            })),
          },
          ...listing(
            ["SETTING", "VALUE", "FROM"],
            rows.map(({ setting, read }) => [setting.variable, shown(setting, read), from(read, file)]),
            "",
          ),
        },
        options,
      );
    },
  );
}

function shown({ secret }: Setting<unknown>, { text }: ReadSetting): string {
  if (text === undefined) return "-";
  return secret === true ? "(secret)" : text === "" ? '""' : text;
}

function from({ source, line }: ReadSetting, file: string | null): string {
  return source === "file" ? `${file ?? ""}:${line ?? ""}` : source;
}
