import { userInfo } from "node:os";
import { hashFromHex, plainLine } from "@attestore/proof";
import type { Command } from "commander";
import { ClockOff } from "../log/clock-off.ts";
import { LogCorruption } from "../log/log-corruption.ts";
import { findCutLogs } from "../log/recovery/lost-heads.ts";
import { beginNextGeneration, RecoveryRefused, requireRecoverable } from "../log/recovery/recover-log.ts";
import { ApiError } from "../platform/errors/api-error.ts";
import { UserError } from "../platform/errors/user-error.ts";
import { type CommonOptions, consoleCommand, runInConsole } from "./console-command.ts";
import { logJson, logText } from "./cut-log-text.ts";
import { readKeptHeads } from "./kept-heads.ts";
import type { Outcome } from "./outcome.ts";
import type { Console } from "./console.ts";

const MAX_BECAUSE = 200;

interface Options extends CommonOptions {
  yes?: boolean;
  because?: string;
}

/** `attestore-server log recover`: exit code 1 if the log cannot go on. */
export function logRecoverCommand(): Command {
  return consoleCommand(
    "recover",
    "End a log that lost entries, and continue with the remaining ones as its next generation",
  )
    .argument("<organisation>", "the organisation's id or slug")
    .option("--because <reason>", "why; everybody who reads the log sees it")
    .option("--yes", "do it, instead of only showing what is lost")
    .action((name: string, options: Options) =>
      runInConsole(options, async (console) => recover(console, name, options)),
    );
}

async function recover(console: Console, name: string, { yes, because }: Options): Promise<Outcome> {
  const org = await console.org(name);
  const { heads, unread } = await readKeptHeads(console.config);
  const cut = (await findCutLogs(console.pool, heads)).find(({ orgId }) => orgId === org.id);
  const lost = (cut?.lost ?? []).map(({ origin, size, root }) => ({
    origin,
    size,
    rootHash: hashFromHex(root),
  }));
  if (cut === undefined || cut.left === null)
    throw refused("No head of this log is known to be lost, so there is nothing to recover.");
  const { left } = cut;
  await refusing(async () => requireRecoverable(left.origin, left.size, lost));
  const shown = [...unread.map((what) => `Not compared: ${what}.`), logText(cut)];
  const json = { ...logJson(cut), not_compared: unread };
  if (yes !== true || because === undefined)
    return {
      json: { ...json, recovered: false },
      talk: [
        ...shown,
        "",
        "If the log continues as its next generation:",
        "- What is lost stays lost, and the log says so for ever: its name gets a number, and its next entry names the lost heads, you, and your reason.",
        "- Agents of this version follow by themselves if their newest head is named or within the remaining entries, and submit again those of the lost entries that they have. Others raise their alarm.",
        "- It cannot be undone, and the lost entries can never be restored into it. If a newer database exists anywhere, restore that instead.",
        "Stop every replica of an earlier version first: it does not know generations.",
      ],
      result: "Nothing was changed.",
      next: `attestore-server log recover ${org.slug} --yes --because "..."`,
    };
  const { origin, generation, eventId } = await refusing(() =>
    console.act("log recover", async (tx) => ({
      orgId: org.id,
      done: await beginNextGeneration(tx, {
        orgId: org.id,
        left: { size: left.size, rootHash: hashFromHex(left.root) },
        lost,
        by: operatorName(),
        because: reason(because),
      }),
    })),
  );
  return {
    json: { ...json, recovered: true, log_id: origin, generation, event_id: eventId },
    talk: shown,
    result: `The log continues as ${origin}: ${eventId} (log_rolled_back) is its entry ${left.size}. Agents follow with their next heartbeat.`,
    next: "attestore-server fsck",
  };
}

/** The user who logged in, also under sudo. Everybody who reads the log sees it. */
function operatorName(): string {
  const name = process.env["SUDO_USER"] ?? userInfo().username;
  return plainLine(name).slice(0, 100) || "operator";
}

function reason(because: string): string {
  const text = plainLine(because).trim();
  if (text === "" || text.length > MAX_BECAUSE)
    throw new UserError("invalid_argument", `--because needs 1 to ${MAX_BECAUSE} characters.`);
  return text;
}

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LogCorruption && error.code === "log_held")
      throw refused(
        "The log was restored a moment ago, and agents still have time to say which heads they hold. Run this again when attestore-server doctor no longer says that it is held.",
      );
    if (error instanceof RecoveryRefused || error instanceof LogCorruption || error instanceof ClockOff)
      throw refused(error.message);
    throw error;
  }
}

function refused(message: string): ApiError {
  return new ApiError("conflict", message);
}
