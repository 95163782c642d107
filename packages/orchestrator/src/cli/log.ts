import type { Command } from "commander";
import { findCutLogs } from "../log/recovery/lost-heads.ts";
import { logArchiveCommand, logUnarchiveCommand } from "./log-archive.ts";
import { logRecoverCommand } from "./log-recover.ts";
import { type CommonOptions, commandGroup, consoleCommand, runInConsole } from "./console-command.ts";
import { logJson, logText } from "./cut-log-text.ts";
import { readKeptHeads } from "./kept-heads.ts";

/**
 * `attestore-server log lost|recover|archive|unarchive`; `lost` ends with 1 if a log lacks a signed
 * head.
 */
export function logCommand(): Command {
  const lost = consoleCommand(
    "lost",
    "Show which signed heads the logs lack since the database was set back, and how many entries remain",
  ).action((options: CommonOptions) =>
    runInConsole(options, async ({ pool, config }) => {
      const { heads, unread } = await readKeptHeads(config);
      const cut = await findCutLogs(pool, heads);
      if (cut.length > 0) process.exitCode = 1;
      const first = cut.find(({ left }) => left !== null);
      return {
        json: { logs: cut.map((log) => logJson(log)), not_compared: unread },
        result: cut.length === 0 ? "No log lacks a head that is known here." : cut.map(logText).join("\n\n"),
        talk: [
          ...unread.map((what) => `Not compared: ${what}.`),
          ...(cut.length === 0
            ? []
            : [
                "Agents may know of more. Keep every copy of the newer database and every signed-heads: what they have can be restored.",
                "If the newer database is gone for good, the log can go on as its next generation.",
              ]),
        ],
        ...(first === undefined
          ? {}
          : { next: `attestore-server log recover ${first.left?.slug ?? first.orgId}` }),
      };
    }),
  );
  return commandGroup("log", "The organisations' logs", [
    lost,
    logRecoverCommand(),
    logArchiveCommand(),
    logUnarchiveCommand(),
  ]);
}
