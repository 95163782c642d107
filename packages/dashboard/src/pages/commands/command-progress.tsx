import { Progress, Stack, Text } from "@mantine/core";
import { commandText } from "../../text/commands.ts";
import { type Command, endOf } from "./command-state.ts";
import classes from "./command-steps.module.css";
import { endedWords, progressWords } from "./progress-words.ts";

/** How far the agent is with a command that runs, as it said last. */
export function CommandProgress({ command }: { command: Command }) {
  const { progress } = command;
  if (progress === undefined || endOf(command) !== null) return null;
  const { bytes, total_bytes: total = 0 } = progress;
  return (
    <Stack gap={4} maw={420}>
      {progress.ended !== undefined && (
        <ol className={classes["ended"]} aria-label={commandText.howFar.over}>
          {progress.ended.map((phase, index) => (
            <li key={index}>{endedWords(phase)}</li>
          ))}
        </ol>
      )}
      <Text size="sm">{progressWords(progress)}</Text>
      {total > 0 && (
        <Progress value={Math.min(100, (bytes / total) * 100)} aria-label={commandText.howFar.label} />
      )}
    </Stack>
  );
}
