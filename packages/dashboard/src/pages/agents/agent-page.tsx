import type { Schemas } from "@attestore/contract/client";
import { Badge, Code, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { overviewQuery } from "../../api/overview.ts";
import { useMe, useOrgId } from "../../api/session.ts";
import { AgentStopped } from "../../parts/facts/agent-stopped.tsx";
import { Age } from "../../parts/marks/age.tsx";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { RecordTable } from "../../parts/records/record-table.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { agents as text } from "../../text/agents.ts";
import { AgentState } from "./agent-state.tsx";
import { KitSection } from "./kit-section.tsx";
import { agentQuery, agentSourcesQuery, silentAgentsQuery } from "./queries.ts";
import { RenameAgent } from "./rename-agent.tsx";
import { RevokeAgent } from "./revoke-agent.tsx";
import { SigningKeys } from "./signing-keys.tsx";
import { engineName } from "../../text/engines.ts";

type Agent = Schemas["AgentRecord"];
const route = getRouteApi("/signed-in/agents/$agentId");
const words = text.detail;

export function AgentPage() {
  const orgId = useOrgId();
  const { agentId } = route.useParams();
  const query = useQuery(agentQuery(orgId, agentId));
  return (
    <QueryResult query={query} isPage>
      {(agent) => <AgentDetail agent={agent} />}
    </QueryResult>
  );
}

function AgentDetail({ agent }: { agent: Agent }) {
  const isReader = useMe().user.role === "reader";
  const { data: silent } = useQuery({ ...silentAgentsQuery(agent.org_id), enabled: !isReader });
  const { data: overview } = useQuery({ ...overviewQuery(agent.org_id, 30), enabled: !isReader });
  const isStopped = overview?.agents.find(({ id }) => id === agent.id)?.is_running === false;
  return (
    <Page
      title={agent.name}
      lead={<AgentState agent={agent} isSilent={silent?.has(agent.id) ?? false} isStopped={isStopped} />}
      actions={
        isReader ? undefined : (
          <>
            <RenameAgent agent={agent} />
            <RevokeAgent agent={agent} />
          </>
        )
      }
    >
      {isStopped && <AgentStopped name={agent.name} />}
      <Section title={words.facts}>
        <FactList
          facts={[
            [words.hostname, agent.hostname],
            [words.platform, agent.platform],
            [words.version, agent.agent_version],
            [words.attached, <Moment key="attached" at={agent.created_at} />],
            [words.seen, <Age key="seen" at={agent.last_seen_at} />],
            ...(agent.revoked_at === null
              ? []
              : [[words.revoked, <Moment key="revoked" at={agent.revoked_at} />] as const]),
            [words.spool, text.spool(agent.spool)],
            [words.id, <Code key="id">{agent.id}</Code>],
          ]}
        />
      </Section>
      <SigningKeys agent={agent} />
      <Recipients agent={agent} />
      {agent.status === "active" && <KitSection agent={agent} />}
      <Sources agent={agent} />
    </Page>
  );
}

function Recipients({ agent: { encryption } }: { agent: Agent }) {
  return (
    <Section title={words.recipients}>
      {encryption === null || encryption.recipients.length === 0 ? (
        <Text size="sm">{words.recipientsUnknown}</Text>
      ) : (
        <Stack gap="xs">
          {encryption.recipients.map((recipient) => (
            <Group key={recipient} gap="xs">
              <Code style={{ overflowWrap: "anywhere", whiteSpace: "normal" }}>{recipient}</Code>
              {recipient === encryption.recovery_kit?.recipient && (
                <Badge variant="outline" tt="none" c="var(--mantine-color-text)">
                  {words.isKit}
                </Badge>
              )}
            </Group>
          ))}
        </Stack>
      )}
    </Section>
  );
}

function Sources({ agent }: { agent: Agent }) {
  const query = useQuery(agentSourcesQuery(agent.org_id, agent.id));
  return (
    <Section title={words.sources}>
      <QueryResult query={query}>
        {(sources) =>
          sources.length === 0 ? (
            <Text size="sm">{words.noSources}</Text>
          ) : (
            <RecordTable
              caption={words.sources}
              rows={sources}
              rowKey={({ id }) => id}
              columns={[
                {
                  header: words.sourceName,
                  cell: ({ id, name }) => <Link to={`/sources/${id}` as "/"}>{name}</Link>,
                },
                { header: words.engine, cell: ({ engine }) => engineName(engine) },
                {
                  header: words.lastBackup,
                  cell: ({ last_backup_at }) => <Age at={last_backup_at} fallback={words.never} />,
                },
                {
                  header: words.lastProven,
                  cell: ({ last_proven_at }) => <Age at={last_proven_at} fallback={words.never} />,
                },
              ]}
            />
          )
        }
      </QueryResult>
    </Section>
  );
}
