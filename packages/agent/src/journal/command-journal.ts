import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isId, type DeliveredCommand } from "@attestore/contract";
import { moveFile, replaceJsonFile } from "@attestore/host/durable-files";
import { errorCode } from "@attestore/host/errno";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";

/**
 * `started` without an outcome and without a running process means that a crash interrupted the
 * command.
 */
export type CommandState = "received" | "started" | "done";

export interface JournaledCommand {
  readonly v: 1;
  readonly command: DeliveredCommand;
  readonly state: CommandState;
  readonly received_at: string;
  readonly started_at: string | null;
  readonly done_at: string | null;
  /** The outcome as one word, and as text for people. */
  readonly outcome: string | null;
}

/**
 * Records a delivered command once. It is on disk before it is acknowledged, and a known id, in any
 * state, is never accepted again. Returns whether it is new.
 */
export async function journalCommand(layout: Layout, command: DeliveredCommand): Promise<boolean> {
  if (existsSync(openFile(layout, command.id)) || existsSync(doneFile(layout, command.id))) return false;
  const entry: JournaledCommand = {
    v: 1,
    command,
    state: "received",
    received_at: new Date().toISOString(),
    started_at: null,
    done_at: null,
    outcome: null,
  };
  await replaceJsonFile(openFile(layout, command.id), entry);
  return true;
}

/** Commands without an outcome, in the order in which they were issued. */
export async function openCommands(layout: Layout): Promise<JournaledCommand[]> {
  const ids = (await readdir(layout.commands))
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -".json".length))
    .filter((id) => isId("command", id));
  const entries: JournaledCommand[] = [];
  for (const id of ids) {
    const entry = await readJson(openFile(layout, id));
    if (entry !== null) entries.push(entry as JournaledCommand);
  }
  return entries.toSorted((a, b) => (a.command.id < b.command.id ? -1 : 1));
}

/** From here on a crash means that the command was interrupted, not that it is still queued. */
export async function markStarted(layout: Layout, entry: JournaledCommand): Promise<JournaledCommand> {
  const started = { ...entry, state: "started" as const, started_at: new Date().toISOString() };
  await replaceJsonFile(openFile(layout, entry.command.id), started);
  return started;
}

/**
 * Stores a command's outcome and removes it from the open list. Safe to repeat, even by two
 * processes at once: the one that ran it and the one that submits its receipt. An unknown id is not
 * an error.
 */
export async function finishCommand(layout: Layout, id: string, outcome: string): Promise<void> {
  const entry = (await readJson(openFile(layout, id))) as JournaledCommand | null;
  if (entry === null) return;
  await replaceJsonFile(openFile(layout, id), {
    ...entry,
    state: "done",
    done_at: new Date().toISOString(),
    outcome,
  });
  try {
    await moveFile(openFile(layout, id), doneFile(layout, id));
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

function openFile(layout: Layout, id: string): string {
  return join(layout.commands, `${id}.json`);
}

function doneFile(layout: Layout, id: string): string {
  return join(layout.commandsDone, `${id}.json`);
}
