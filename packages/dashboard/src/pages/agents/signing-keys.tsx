import type { Schemas } from "@attestore/contract/client";
import { Code, Group, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { CopyButton } from "../../parts/facts/copy-button.tsx";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { RecordTable } from "../../parts/records/record-table.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { agents } from "../../text/agents.ts";
import { agentKeysQuery } from "./queries.ts";

type Agent = Schemas["AgentRecord"];
const words = agents.detail;

/** The agent's signing key, and its earlier ones. */
export function SigningKeys({ agent }: { agent: Agent }) {
  return (
    <Section title={words.signing}>
      <Text size="sm">{words.signingExplained}</Text>
      <FactList
        facts={[
          [words.fingerprint, <Code key="fingerprint">{agent.key_fingerprint}</Code>],
          [words.publicKey, <Code key="key">{agent.public_key}</Code>],
        ]}
      />
      <Group>
        <CopyButton text={agent.public_key} label={words.copyKey} />
      </Group>
      <EarlierKeys agent={agent} />
    </Section>
  );
}

function EarlierKeys({ agent }: { agent: Agent }) {
  const { data: keys = [] } = useQuery(agentKeysQuery(agent.org_id, agent.id));
  const earlier = keys.filter(({ valid_until }) => valid_until !== null);
  if (earlier.length === 0) return null;
  return (
    <>
      <Title order={3} size="h5">
        {words.earlier}
      </Title>
      <Text size="sm">{words.earlierExplained}</Text>
      <RecordTable
        caption={words.earlier}
        rows={earlier}
        rowKey={({ key_fingerprint }) => key_fingerprint}
        columns={[
          {
            header: words.fingerprint,
            cell: ({ key_fingerprint }) => <Code>{key_fingerprint}</Code>,
          },
          { header: words.earlierFrom, cell: ({ valid_from }) => <Moment at={valid_from} /> },
          {
            header: words.earlierUntil,
            cell: ({ valid_until }) => (valid_until === null ? null : <Moment at={valid_until} />),
          },
          {
            header: words.earlierKey,
            cell: ({ public_key }) => <CopyButton text={public_key} name={words.copyKey} />,
          },
        ]}
      />
    </>
  );
}
