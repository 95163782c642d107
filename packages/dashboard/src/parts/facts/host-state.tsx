import type { Schemas } from "@attestore/contract/client";
import { Alert, Stack, Text } from "@mantine/core";
import { useAgentProgram } from "../../api/served-for-hosts.ts";
import { addSource } from "../../text/add-source.ts";
import { CommandText } from "./command-text.tsx";

const text = addSource.host;
type Agent = Schemas["AgentRecord"];
/** Several heartbeats. */
const SILENT_MS = 5 * 60_000;

/**
 * What keeps an agent from doing what is asked; nothing if nothing does. `now` is when its record
 * was read, in milliseconds.
 */
export function HostState({ agent, now }: { agent: Agent; now: number }) {
  const program = useAgentProgram();
  const seen = agent.last_seen_at === null ? 0 : Date.parse(agent.last_seen_at);
  return (
    <>
      {now - seen > SILENT_MS && (
        <Alert color="orange" variant="light" role="status">
          {text.offline(agent.name)}
        </Alert>
      )}
      {!agent.remote_config && (
        <Stack gap="xs" role="status">
          <Text size="sm">{text.off(agent.name, agent.hostname)}</Text>
          <CommandText text={`${program} remote-config on`} label={text.offLabel} />
          <Text size="sm" c="dimmed">
            {text.offWhy}
          </Text>
        </Stack>
      )}
    </>
  );
}
