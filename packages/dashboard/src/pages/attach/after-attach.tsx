import { Button, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useAgentProgram, useIsCheckout, useRunCommand } from "../../api/served-for-hosts.ts";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { attach } from "../../text/attach.ts";

const text = attach.after;

/** What to do once a host is attached: have its agent run, and say what to back up. */
export function AfterAttach({ isRunning }: { isRunning: boolean }) {
  const program = useAgentProgram();
  const run = useRunCommand();
  const isCheckout = useIsCheckout();
  return (
    <>
      {isRunning && <Text size="sm">{text.running}</Text>}
      {!isRunning && (
        <>
          <Text size="sm">{isCheckout ? text.run : text.unit}</Text>
          <CommandText text={run} label={text.runCommand} />
        </>
      )}
      <Text size="sm">{text.declare}</Text>
      <Group>
        <Button renderRoot={(props) => <Link to="/sources/add" {...props} />}>{text.addSource}</Button>
      </Group>
      <CommandText text={`${program} source add`} label={text.declareCommand} />
    </>
  );
}
