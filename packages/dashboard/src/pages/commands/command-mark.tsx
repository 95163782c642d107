import { Group } from "@mantine/core";
import { StatusMark } from "../../parts/status-mark.tsx";
import { commandText } from "../../text/commands.ts";
import { endOf } from "./command-state.ts";
import type { Command } from "./command-state.ts";

/**
 * A command's state in one word. Done does not mean proven: the receipt says what a restore test
 * found.
 */
export function CommandMark({ command }: { command: Command }) {
  const end = endOf(command);
  return (
    <Group gap={6} wrap="nowrap" display="inline-flex" style={{ whiteSpace: "nowrap" }}>
      {end === "failed" && <StatusMark status="failed" size={14} label="" />}
      {end === null ? commandText.statuses[command.status] : commandText.ended[end]}
    </Group>
  );
}
