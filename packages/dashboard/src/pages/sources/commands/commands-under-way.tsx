import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { RecordLink } from "../../../parts/records/record-link.tsx";
import { sourceText } from "../../../text/sources.ts";
import { CommandResult } from "../../commands/command-outcome.tsx";
import { CommandProgress } from "../../commands/command-progress.tsx";
import { CommandSteps } from "../../commands/command-steps.tsx";
import { endOf } from "../../commands/command-state.ts";
import { NotTaken } from "../../commands/not-taken.tsx";
import type { FollowedCommands } from "./use-followed-commands.ts";

const text = sourceText.trigger;

/** The progress of running commands, and their results. */
export function CommandsUnderWay({ commands }: { commands: FollowedCommands }) {
  if (commands.shown.length === 0) return null;
  return (
    <Stack component="section" gap="sm" aria-label={text.heading}>
      <Title order={2} size="h4">
        {text.heading}
      </Title>
      {commands.shown.map((command) => (
        <Paper key={command.id} withBorder p="md">
          <Stack gap="xs">
            <Group justify="space-between">
              <Text fw={600}>
                <RecordLink id={command.id}>{text.names[command.kind]}</RecordLink>
              </Text>
              {endOf(command) !== null && (
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`${text.dismiss}: ${text.names[command.kind]}`}
                  onClick={() => commands.hide(command.id)}
                >
                  {text.dismiss}
                </Button>
              )}
            </Group>
            <CommandSteps command={command} />
            <CommandProgress command={command} />
            <NotTaken command={command} />
            <div role="status">
              <CommandResult command={command} />
            </div>
          </Stack>
        </Paper>
      ))}
    </Stack>
  );
}
