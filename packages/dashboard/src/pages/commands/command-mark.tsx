import { Group } from "@mantine/core";
import { type Status, StatusMark } from "../../parts/status-mark.tsx";
import { commandText } from "../../text/commands.ts";
import { endOf } from "../sources/command-state.ts";
import type { Command } from "../sources/queries.ts";

const ENDS = { receipt: "proven", failed: "failed", withdrawn: "none" } as const satisfies Record<
  string,
  Status
>;

/** How far a command is, in a word. */
export function CommandMark({ command }: { command: Command }) {
  const end = endOf(command);
  return (
    <Group gap={6} wrap="nowrap" display="inline-flex">
      <StatusMark status={end === null ? "backed_up" : ENDS[end]} size={14} label="" />
      {end === null ? commandText.statuses[command.status] : commandText.ended[end]}
    </Group>
  );
}
