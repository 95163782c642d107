import { Anchor, Text } from "@mantine/core";
import type { Schemas } from "@attestore/contract/client";
import { Link } from "@tanstack/react-router";
import { Age } from "../../parts/marks/age.tsx";
import { RecordTable } from "../../parts/records/record-table.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { home, spoolText } from "../../text/home.ts";

type Agent = Schemas["AgentOverview"];

const SHOWN = 8;

/** The agents, those that need attention first. */
export function AgentsSection({ agents }: { agents: readonly Agent[] }) {
  const ordered = agents.toSorted((a, b) => trouble(b) - trouble(a));
  const more = agents.length - SHOWN;
  const { columns } = home.agents;
  return (
    <Section title={home.agents.heading}>
      <RecordTable
        caption={home.agents.heading}
        rows={ordered.slice(0, SHOWN)}
        rowKey={({ id }) => id}
        columns={[
          {
            header: columns.name,
            cell: ({ id, name }) => (
              <Link to="/agents/$agentId" params={{ agentId: id }}>
                {name}
              </Link>
            ),
          },
          {
            header: columns.seen,
            cell: ({ last_seen_at, is_silent }) => (
              <span>
                <Age at={last_seen_at} fallback={home.agents.neverSeen} />
                {is_silent && <strong>, {home.agents.silent}</strong>}
              </span>
            ),
          },
          { header: columns.spool, cell: ({ spool }) => spoolText(spool) },
        ]}
      />
      <Text size="sm">
        {more > 0 && `${home.agents.more(more)}. `}
        <Anchor inherit renderRoot={(props) => <Link to="/agents" {...props} />}>
          {home.agents.all}
        </Anchor>
      </Text>
    </Section>
  );
}

function trouble({ is_silent, spool }: Agent): number {
  const waiting = spool === null ? 0 : spool.backups + spool.receipts + spool.events;
  return (is_silent ? 1_000_000 : 0) + waiting;
}
