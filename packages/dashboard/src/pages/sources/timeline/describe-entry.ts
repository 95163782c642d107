import type { Status } from "../../../parts/marks/status-mark.tsx";
import { formatAge, formatBytes, formatMilliseconds, formatTime } from "../../../text/format.ts";
import { eventText } from "../../../text/log.ts";
import { sourceText } from "../../../text/sources.ts";
import { suspicionWords } from "../../backups/suspicion-words.ts";
import { markOf, wordOf } from "../../commands/command-state.ts";
import type { RestoreTest, TimelineItem } from "../queries.ts";
import { dataBack_ms } from "../restore-tests/restore-phases.ts";
import type { TimelineRow } from "./timeline-rows.ts";
import { engineName } from "../../../text/engines.ts";

const text = sourceText.timeline;

export interface EntryWords {
  mark: Status;
  title: string;
  details: string[];
}

/** A timeline entry in words; for a restore test also its result, once that is loaded. */
export function describeEntry(
  { item, isRefuted = false }: Pick<TimelineRow, "item" | "isRefuted">,
  now = new Date(),
  test?: RestoreTest,
): EntryWords {
  switch (item.type) {
    case "backup": {
      const { size_bytes, source_metadata, proven_at, status } = item.backup;
      return {
        mark: isRefuted ? "failed" : proven_at === null ? "backed_up" : "proven",
        title: text.backup,
        details: [
          formatBytes(size_bytes),
          `${engineName(source_metadata.engine)} ${source_metadata.engine_version}`,
          ...(isRefuted ? [text.refuted] : proven_at === null ? [text.notProven] : []),
          ...(proven_at === null ? [] : [`${text.proven} ${formatAge(new Date(proven_at), now)}`]),
          ...(isRefuted ? [] : suspicionWords(item.backup)),
          ...(status === "expired" ? [text.expired] : []),
        ],
      };
    }
    case "receipt": {
      const { kind, result } = item.receipt;
      if (kind === "backup") return { mark: "backed_up", title: text.backupReceipt, details: [] };
      const passed = result === "passed";
      return {
        mark: passed ? "proven" : "failed",
        title: passed ? text.passed : text.failed,
        details: found(test),
      };
    }
    case "event":
      return describeEvent(item, now);
    case "command": {
      const { command } = item;
      return { mark: markOf(command), title: text.command[command.kind], details: [wordOf(command)] };
    }
  }
}

function found(test: RestoreTest | undefined): string[] {
  if (test === undefined) return [];
  if (test.result === "failed") return test.reason === undefined ? [] : [test.reason];
  const { checks, phases } = test;
  return [
    text.checksHeld(checks.length),
    ...(phases === undefined ? [] : [text.backIn(formatMilliseconds(dataBack_ms(phases)))]),
  ];
}

const MARKS: Readonly<Record<string, Status>> = {
  backup_failed: "failed",
  restore_failed: "failed",
  attestation_failed: "failed",
  backup_missed: "missed",
  restore_test_missed: "missed",
};

function describeEvent({ event, incident }: Extract<TimelineItem, { type: "event" }>, now: Date): EntryWords {
  const { kind, detail } = event;
  const ended = incident?.ended_at;
  return {
    mark: MARKS[kind] ?? "none",
    title: eventText.kind[kind] ?? kind,
    details: [
      ...textsIn(detail, ["message"]),
      ...(typeof detail["message"] === "string" ? [] : textsIn(detail, ["reason"])),
      ...textsIn(detail, ["scheduled_at"]).map((at) => `${text.due} ${formatTime(new Date(at))}`),
      ...(incident === null
        ? []
        : [
            ended === null || ended === undefined
              ? text.stillOpen
              : `${text.ended} ${formatAge(new Date(ended), now)}`,
          ]),
    ],
  };
}

function textsIn(detail: Readonly<Record<string, unknown>>, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const value = detail[name];
    return typeof value === "string" && value !== "" ? [value] : [];
  });
}
