import { Text } from "@mantine/core";
import { useRunCommand } from "../../api/served-for-hosts.ts";
import { sourceText } from "../../text/sources.ts";
import { CommandText } from "./command-text.tsx";

const text = sourceText.trigger;

/** Why nothing begins that somebody starts or schedules, and what to do. */
export function AgentStopped({ name }: { name: string }) {
  const run = useRunCommand();
  return (
    <div>
      <Text size="sm" mb="xs">
        {text.notRunning(name)}
      </Text>
      <CommandText text={run} label={text.runCommand} />
    </div>
  );
}
