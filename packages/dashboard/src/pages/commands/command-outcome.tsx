import { Group, Text } from "@mantine/core";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { commandText } from "../../text/commands.ts";
import { sourceText } from "../../text/sources.ts";
import { endOf, markOf } from "./command-state.ts";
import type { Command } from "./command-state.ts";

const text = sourceText.trigger;

/** What a command is waiting for, or its result, with links. */
export function CommandOutcome({ command }: { command: Command }) {
  const { receipt_id, backup_id, event_id } = command.outcome;
  return (
    <Group gap="0 var(--mantine-spacing-md)">
      <Text size="sm">{wordsOf(command)}</Text>
      <Group gap="md" wrap="nowrap">
        {receipt_id !== undefined && <OutcomeLink id={receipt_id}>{text.receipt}</OutcomeLink>}
        {backup_id !== undefined && <OutcomeLink id={backup_id}>{text.backupMade}</OutcomeLink>}
        {event_id !== undefined && <OutcomeLink id={event_id}>{text.event}</OutcomeLink>}
      </Group>
    </Group>
  );
}

function OutcomeLink({ id, children }: { id: string; children: string }) {
  return (
    <Text size="sm" component="span">
      <RecordLink id={id}>{children}</RecordLink>
    </Text>
  );
}

/** The same, with a restore test's result. */
export function CommandResult({ command }: { command: Command }) {
  const { result } = command.outcome;
  return (
    <Group gap="0 var(--mantine-spacing-md)">
      {result !== undefined && (
        <Group gap={6} wrap="nowrap">
          <StatusMark status={markOf(command)} label="" />
          <Text fw={600} size="sm">
            {commandText.found[result]}
          </Text>
        </Group>
      )}
      <CommandOutcome command={command} />
    </Group>
  );
}

function wordsOf(command: Command): string {
  switch (endOf(command)) {
    case "receipt":
      return commandText.receipt[command.outcome.result ?? command.kind];
    case "failed":
      return text.failed[command.kind];
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
