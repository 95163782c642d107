import { Alert, Group, Loader, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { every } from "../../api/query-client.ts";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { AfterAttach } from "./after-attach.tsx";
import { attach } from "../../text/attach.ts";

const text = attach.key;
const EVERY_MS = 3000;

/** The agents that have attached since the page was opened. */
export function NewAgents({ orgId, since }: { orgId: string; since: string }) {
  const query = useQuery({
    queryKey: ["agents", orgId, "since", since],
    queryFn: async () =>
      (await api.call("get", "/api/orgs/{orgID}/agents", { path: { orgID: orgId }, query: { from: since } }))
        .body.items,
    refetchInterval: every(EVERY_MS),
  });
  return (
    <Section title={text.attached}>
      <QueryResult query={query}>
        {(agents) => (
          <Stack gap="xs" role="status">
            {agents.map(({ id, name, hostname, key_fingerprint }) => (
              <Alert key={id} color="teal" variant="light" title={attach.attached(name)}>
                <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                  {hostname}, {key_fingerprint}
                </Text>
                <Link to="/agents/$agentId" params={{ agentId: id }}>
                  {text.open(name)}
                </Link>
              </Alert>
            ))}
            {agents.length > 0 && (
              <AfterAttach isRunning={agents.every(({ last_seen_at }) => last_seen_at !== null)} />
            )}
            {agents.length === 0 && (
              <Group gap="sm">
                <Loader size="sm" aria-hidden="true" />
                <Text size="sm">{text.waiting}</Text>
              </Group>
            )}
          </Stack>
        )}
      </QueryResult>
    </Section>
  );
}
