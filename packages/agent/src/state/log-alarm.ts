import { existsSync } from "node:fs";
import { join } from "node:path";
import { moveFile, removeFile, replaceJsonFile } from "@attestore/host/durable-files";
import type { Layout } from "./layout.ts";
import { readJson } from "./read-json.ts";
import { UserError } from "../errors/user-error.ts";

export type LogAlarmReason =
  /** Not a checkpoint, or one without the log's own signature. */
  | "head_unsigned"
  /** Two roots for one size. */
  | "head_forked"
  /**
   * The checkpoint's tree does not begin with the kept one's tree, or nobody can prove that it
   * does.
   */
  | "head_inconsistent"
  /** The service no longer knows a tree that it signed. */
  | "head_rolled_back";

/** The evidence, kept for a person: both notes as they were received. */
export interface LogAlarm {
  readonly v: 1;
  readonly raised_at: string;
  readonly reason: LogAlarmReason;
  readonly detail: string;
  readonly kept: string | null;
  readonly offered: string;
}

/**
 * The log showed something that it must never show. While the alarm's file exists, this agent signs
 * nothing.
 */
export class LogAlarmError extends UserError {
  readonly alarm: LogAlarm;

  constructor(alarm: LogAlarm) {
    super(
      "log_alarm",
      `the service's log does not extend what this agent has seen of it (${alarm.reason}: ${alarm.detail}). ` +
        "Nothing is signed until a person has looked: see `attestore alarm`.",
    );
    this.name = "LogAlarmError";
    this.alarm = alarm;
  }
}

export async function readLogAlarm(layout: Layout): Promise<LogAlarm | null> {
  return (await readJson(layout.logAlarm)) as LogAlarm | null;
}

/** Called before every signature of a receipt or checkpoint. @throws LogAlarmError */
export async function requireNoLogAlarm(layout: Layout): Promise<void> {
  // A file that exists but can't be read stops us too.
  if (!existsSync(layout.logAlarm)) return;
  const alarm = await readLogAlarm(layout);
  if (alarm !== null) throw new LogAlarmError(alarm);
}

/**
 * A person has decided. The evidence is moved aside, never deleted. With `forgetHead` the next
 * checkpoint counts as the first one; without it, the kept one stays the reference.
 */
export async function clearLogAlarm(
  layout: Layout,
  decision: { forgetHead: boolean; because: string },
): Promise<string> {
  const alarm = await readLogAlarm(layout);
  if (alarm === null) throw new UserError("usage", "there is no alarm to clear");
  const stem = fileStamp(alarm.raised_at);
  const kept = join(layout.logAlarmsCleared, `${stem}.json`);
  const decided = { ...decision, cleared_at: new Date().toISOString() };
  await replaceJsonFile(join(layout.logAlarmsCleared, `${stem}.decision.json`), decided);
  if (decision.forgetHead) await removeFile(layout.keptCheckpoint);
  // Last: after a crash before this, the alarm is still there.
  await moveFile(layout.logAlarm, kept);
  return kept;
}

/** A moment as part of a file name. */
export function fileStamp(timestamp: string): string {
  return timestamp.toLowerCase().replaceAll(/[:.]/g, "-");
}
