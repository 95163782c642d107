import { Text } from "@mantine/core";
import { useAgentProgram, useRunCommand, useServedForHosts } from "../../api/served-for-hosts.ts";
import { CommandText } from "../../parts/command-text.tsx";
import { attach } from "../../text/attach.ts";

const text = attach.after;

/** What to do on a host once it is attached: name what to back up, and have the agent run. */
export function AfterAttach() {
  const program = useAgentProgram();
  const run = useRunCommand();
  const isCheckout = useServedForHosts()?.hasPackages === false;
  return (
    <>
      <Text size="sm">{text.declare}</Text>
      <CommandText text={`${program} source add`} label={text.declareCommand} />
      <Text size="sm">{isCheckout ? text.run : text.unit}</Text>
      <CommandText text={run} label={text.runCommand} />
    </>
  );
}
