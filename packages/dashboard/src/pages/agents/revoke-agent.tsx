import type { Schemas } from "@attestore/contract/client";
import { Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { ConfirmDialog } from "../../parts/actions/confirm-dialog.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { agents as text } from "../../text/agents.ts";
import { people } from "../../text/people.ts";
import { agentSourcesQuery } from "./queries.ts";

/** Revokes an agent permanently, after saying what that ends. */
export function RevokeAgent({ agent }: { agent: Schemas["AgentRecord"] }) {
  const mayManage = useMayManage();
  const [opened, { open, close }] = useDisclosure(false);
  const { data: sources = [] } = useQuery(agentSourcesQuery(agent.org_id, agent.id));
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () =>
      api.call("post", "/api/orgs/{orgID}/agents/{agentID}/revoke", {
        path: { orgID: agent.org_id, agentID: agent.id },
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["agents", agent.org_id] });
      close();
    },
  });
  return (
    <>
      <ReasonedButton color="red.9" disabledReason={reasonAgainst(agent, mayManage)} onClick={open}>
        {text.revoke.action}
      </ReasonedButton>
      <ConfirmDialog
        opened={opened}
        title={text.revoke.title(agent.name)}
        action={text.revoke.confirm(agent.name)}
        pending={revoke.isPending}
        error={revoke.error}
        onConfirm={() => revoke.mutate()}
        onClose={close}
      >
        <Stack gap="xs">
          <Text size="sm">{text.revoke.goes}</Text>
          {sources.length > 0 && (
            <Text size="sm">{text.revoke.sources(sources.map(({ name }) => name).join(", "))}</Text>
          )}
          <Text size="sm">{text.revoke.stays}</Text>
        </Stack>
      </ConfirmDialog>
    </>
  );
}

function reasonAgainst(agent: Schemas["AgentRecord"], mayManage: boolean): string | null {
  if (!mayManage) return people.onlyManagers;
  return agent.status === "revoked" ? text.revoke.already : null;
}
