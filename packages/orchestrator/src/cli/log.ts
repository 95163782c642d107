import { plural } from "@attestore/proof";
import type { Command } from "commander";
import { type CutLog, findCutLogs } from "../log/lost-heads.ts";
import { type CommonOptions, commandGroup, consoleCommand, runInConsole } from "./console-command.ts";
import { readKeptHeads } from "./kept-heads.ts";

/** `attestore-server log lost`: exit code 1 if a log lacks a head that was signed. */
export function logCommand(): Command {
  const lost = consoleCommand(
    "lost",
    "Show what logs lack since the database was set back: the heads that were signed, and what is left",
  ).action((options: CommonOptions) =>
    runInConsole(options, async ({ pool, config }) => {
      const { heads, unread } = await readKeptHeads(config);
      const cut = await findCutLogs(pool, heads);
      if (cut.length > 0) process.exitCode = 1;
      return {
        json: { logs: cut.map((log) => logJson(log)), not_compared: unread },
        result: cut.length === 0 ? "No log lacks a head that is known here." : cut.map(logText).join("\n\n"),
        talk: [
          ...unread.map((what) => `Not compared: ${what}.`),
          ...(cut.length === 0
            ? []
            : [
                "Agents may know of more. Keep every copy of the newer database and every signed-heads: what they have can be restored.",
              ]),
        ],
      };
    }),
  );
  return commandGroup("log", "The organisations' logs", [lost]);
}

function logJson({ orgId, left, lost }: CutLog): object {
  return {
    org_id: orgId,
    left:
      left === null
        ? null
        : {
            slug: left.slug,
            tree_size: left.size,
            root_hash: left.root,
            newest_at: left.newestAt.toISOString(),
          },
    lost: lost.map(({ size, root, where }) => ({ tree_size: size, root_hash: root, known_from: where })),
  };
}

function logText({ orgId, left, lost }: CutLog): string {
  const lines = lost.map(
    ({ size, root, where }) =>
      `  lost: the head of ${plural(size, "entry", "entries")}, root ${root} (known from ${where.join(", ")})`,
  );
  if (left === null) return [`${orgId}: the database does not know this organisation`, ...lines].join("\n");
  const most = lost.at(-1)?.size ?? 0;
  const count =
    most > left.size
      ? `at least ${plural(most - left.size, "entry is", "entries are")} lost`
      : "it went on with other entries";
  return [
    `${orgId} (${left.slug}): ${count}`,
    `  left: ${plural(left.size, "entry", "entries")} up to ${left.newestAt.toISOString()}, root ${left.root}`,
    ...lines,
  ].join("\n");
}
