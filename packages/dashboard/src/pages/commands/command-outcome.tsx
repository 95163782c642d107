import { Group, Text } from "@mantine/core";
import { RecordLink } from "../../parts/record-link.tsx";
import { commandText } from "../../text/commands.ts";
import { sourceText } from "../../text/sources.ts";
import { endOf } from "../sources/command-state.ts";
import type { Command } from "../sources/queries.ts";

const text = sourceText.trigger;

/** What a command waits for, or what came of it, with links to it. */
export function CommandOutcome({ command }: { command: Command }) {
  const { receipt_id, backup_id, event_id } = command.outcome;
  return (
    <Group gap="md">
      <Text size="sm">{wordsOf(command)}</Text>
      {receipt_id !== undefined && <RecordLink id={receipt_id}>{text.receipt}</RecordLink>}
      {backup_id !== undefined && <RecordLink id={backup_id}>{text.backupMade}</RecordLink>}
      {event_id !== undefined && <RecordLink id={event_id}>{text.event}</RecordLink>}
    </Group>
  );
}

function wordsOf(command: Command): string {
  switch (endOf(command)) {
    case "receipt":
      return commandText.receipt[command.kind];
    case "failed":
      return text.failed;
    case "withdrawn":
      return text.withdrawn;
    case null:
      return waitingFor(command);
  }
}

function waitingFor({ status, outcome, attempts }: Command): string {
  if (outcome.backup_id !== undefined) return text.stored;
  if (status === "acked") return text.running;
  return attempts > 1 ? text.repeated(attempts) : text.waiting;
}
