import { Group } from "@mantine/core";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { markOf, wordOf } from "./command-state.ts";
import type { Command } from "./command-state.ts";

/** A command's state in one word; of a restore test that ended, what it found. */
export function CommandMark({ command }: { command: Command }) {
  const mark = markOf(command);
  return (
    <Group gap={6} wrap="nowrap" display="inline-flex" style={{ whiteSpace: "nowrap" }}>
      {mark !== "none" && <StatusMark status={mark} size={14} label="" />}
      {wordOf(command)}
    </Group>
  );
}
