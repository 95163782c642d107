import { Stack, Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { useRunCommand } from "../../api/served-for-hosts.ts";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { sourceText } from "../../text/sources.ts";
import { endOf, type Command } from "./command-state.ts";

const text = sourceText.trigger;
/** An agent that runs takes a command within a second. */
const PATIENCE_MS = 5_000;

/** Says how to start the agent once a command has waited for it longer than for one that runs. */
export function NotTaken({ command }: { command: Command }) {
  const waits = command.status === "queued" && endOf(command) === null;
  return <div role="status">{waits && <AfterWaiting key={command.id} />}</div>;
}

function AfterWaiting() {
  const [isLong, setLong] = useState(false);
  const command = useRunCommand();
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isLong) return null;
  return (
    <Stack gap={4}>
      <Text size="sm">{text.notTaken}</Text>
      <CommandText text={command} label={text.runCommand} />
    </Stack>
  );
}
