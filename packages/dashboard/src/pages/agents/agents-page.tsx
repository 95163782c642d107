import { Alert, Button, SegmentedControl, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@attestore/contract/client";
import { useState } from "react";
import { useMayManage, useMe, useOrgId } from "../../api/session.ts";
import { Age, useNow } from "../../parts/marks/age.tsx";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { EmptyState } from "../../parts/feedback/empty-state.tsx";
import { MoreButton } from "../../parts/records/more-button.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { type Column, RecordTable } from "../../parts/records/record-table.tsx";
import { agents as text } from "../../text/agents.ts";
import { AgentState } from "./agent-state.tsx";
import { type AgentFilter, agentsQuery, silentAgentsQuery } from "./queries.ts";
import { kitState, needsKit } from "./recovery-kit.ts";
import { useKitCommands } from "./use-kit-commands.ts";

type Agent = Schemas["AgentRecord"];

export function AgentsPage() {
  const orgId = useOrgId();
  const mayManage = useMayManage();
  const [filter, setFilter] = useState<AgentFilter>("active");
  const list = useInfiniteQuery(agentsQuery(orgId, filter));
  const attach = mayManage ? (
    <Button renderRoot={(props) => <Link to="/attach" {...props} />}>{text.attach}</Button>
  ) : undefined;
  return (
    <Page title={text.title} lead={text.lead} actions={attach}>
      <SegmentedControl
        aria-label={text.show}
        w="fit-content"
        value={filter}
        onChange={(value) => setFilter(value as AgentFilter)}
        data={(["active", "revoked", "all"] as const).map((value) => ({ value, label: text.filter[value] }))}
      />
      <QueryResult query={list}>
        {({ pages }) => {
          const found = pages.flatMap(({ items }) => items);
          if (found.length === 0)
            return filter === "revoked" ? (
              <EmptyState>{text.noneOf.revoked}</EmptyState>
            ) : (
              <EmptyState action={attach}>{text.empty}</EmptyState>
            );
          return (
            <Stack>
              {mayManage && <RecoveryNudge agents={found} />}
              <AgentTable agents={found} orgId={orgId} />
              <MoreButton list={list} />
            </Stack>
          );
        }}
      </QueryResult>
    </Page>
  );
}

function AgentTable({ agents, orgId }: { agents: Agent[]; orgId: string }) {
  const isReader = useMe().user.role === "reader";
  const { data: silent } = useQuery({ ...silentAgentsQuery(orgId), enabled: !isReader });
  const now = useNow();
  const columns: Column<Agent>[] = [
    {
      header: text.column.name,
      cell: ({ id, name }) => (
        <Link to="/agents/$agentId" params={{ agentId: id }}>
          {name}
        </Link>
      ),
    },
    {
      header: text.column.state,
      cell: (agent) => <AgentState agent={agent} isSilent={silent?.has(agent.id) ?? false} />,
    },
    { header: text.column.version, cell: ({ agent_version }) => agent_version },
    { header: text.column.seen, cell: ({ last_seen_at }) => <Age at={last_seen_at} /> },
    { header: text.column.spool, cell: ({ spool }) => text.spool(spool) },
    { header: text.column.kit, cell: (agent) => text.kit[kitState(agent, now)] },
  ];
  return <RecordTable caption={text.title} columns={columns} rows={agents} rowKey={({ id }) => id} />;
}

/** Reminds of recovery kits until every active agent has a tested one. */
function RecoveryNudge({ agents }: { agents: Agent[] }) {
  const now = useNow();
  const commands = useKitCommands(["make_recovery_kit", "test_recovery_kit"]);
  const without = agents.filter((agent) => agent.status === "active" && needsKit(kitState(agent, now)));
  if (without.length === 0) return null;
  return (
    <Alert color="orange" variant="light" title={text.nudge.title}>
      <Stack gap="xs">
        <Text size="sm">{text.nudge.text(without.map(({ name }) => name).join(", "))}</Text>
        <Text size="sm">{text.nudge.make}</Text>
        <CommandText label={text.detail.kitCommands} text={commands} />
      </Stack>
    </Alert>
  );
}
