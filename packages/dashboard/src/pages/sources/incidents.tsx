import { Group, List, Text } from "@mantine/core";
import { Age } from "../../parts/marks/age.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { sourceText } from "../../text/sources.ts";
import type { Incident, SourceDetail } from "./queries.ts";
import { type Agents, useAgents } from "../../api/use-agents.ts";

const text = sourceText.incident;

/** The open incidents of the source and its agents. */
export function Incidents({ source }: { source: SourceDetail }) {
  const agents = useAgents();
  if (source.incidents.length === 0) return null;
  return (
    <section aria-label={text.heading}>
      <Group gap="xs" mb={4}>
        <StatusMark status="missed" label="" />
        <Text fw={600} component="h2">
          {text.heading}
        </Text>
      </Group>
      <List size="sm" spacing={4}>
        {source.incidents.map((incident) => (
          <List.Item key={incident.id}>
            {wordsOf(incident, agents)}: {text.since} <Age at={incident.began_at} />.{" "}
            <RecordLink id={incident.id} inText>
              {text.record}
            </RecordLink>
            {incident.kind === "agent_silent" && <Text size="sm">{text.silentHint}</Text>}
          </List.Item>
        ))}
      </List>
    </section>
  );
}

function wordsOf({ kind, agent_id }: Incident, agents: Agents): string {
  return kind === "agent_silent" ? text.agent_silent(agents.nameOf(agent_id ?? "")) : text[kind];
}
